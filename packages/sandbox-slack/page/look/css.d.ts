/** The bundler combines all imported style sheets into one file. */
declare module '*.css'
