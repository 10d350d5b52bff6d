/** Style sheets are bundled into one. */
declare module '*.css'
