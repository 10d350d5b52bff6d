/** The `rel=next` address of a `Link` header (RFC 8288), resolved against the page's own, or null. */
export function findNextLink(header: string | null, pageUrl: URL): URL | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(LINK)) {
    if (isNext(parameters)) return URL.parse(target, pageUrl)
  }
  return null
}

const LINK = /<([^<>]*)>((?:"[^"]*"|[^",<])*)/g

function isNext(parameters: string): boolean {
  const [, quoted, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? []
  return (quoted ?? token ?? '').toLowerCase().split(/\s+/).includes('next')
}
