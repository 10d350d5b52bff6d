/** The part of sax that is used here: the package has no types. */
declare module 'sax' {
  const sax: {
    parser(isStrict: boolean, options: { strictEntities: boolean }): sax.Parser
    MAX_BUFFER_LENGTH: number
  }

  namespace sax {
    interface Parser extends Handlers {
      write(chunk: string): void
      close(): void
      line: number
      entity: string
      error: Error | null
    }

    interface Tag {
      name: string
      attributes: Record<string, string>
    }

    interface Handlers {
      ondoctype(): void
      onsgmldeclaration(): void
      onerror(error: Error): void
      onopentagstart(): void
      onattribute(): void
      onopentag(tag: Tag): void
      ontext(text: string): void
      oncdata(text: string): void
      onclosetag(): void
    }
  }

  export = sax
}
