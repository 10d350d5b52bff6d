import type { Block, Element } from '../store/wire.ts'
import { safeUrl } from './mrkdwn.ts'
import { OutsideLink } from './text.tsx'

type Shown = Pick<Block & Element, 'image_url' | 'slack_file' | 'alt_text'>

/** Shows a picture from this machine. Any other is a link, because the page loads nothing from other servers. */
export function Picture({ image_url: address, slack_file: file, alt_text: alt = '' }: Shown) {
  const url = address ?? file?.url ?? `${location.origin}/files/${file?.id}`
  if (isLocal(url)) return <img src={url} alt={alt} title={alt} />
  return safeUrl(url) ? <OutsideLink url={url}>{alt}</OutsideLink> : <span>{alt}</span>
}

/** A file beside the page, such as the gallery's. */
const BESIDE = /^[a-z-]+\.png$/

const HERE = ['127.0.0.1', 'localhost']

const isLocal = (url: string): boolean =>
  url.startsWith('data:image/') || BESIDE.test(url) || (URL.canParse(url) && HERE.includes(new URL(url).hostname))
