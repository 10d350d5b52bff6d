/** The part of a logger that the rooms use; pino's shape. Fields first, then a sentence. */
export interface Log {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}
