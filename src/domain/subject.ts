/** What subjects are: one lineage's card, or one day's account notice. */
export type Subject = { kind: 'lineage'; lineageKey: string; episode: number } | { kind: 'notice'; day: string }

export const lineageSubject = (lineageKey: string, episode: number): string => `${lineageKey}/${episode}`
export const noticeSubject = (day: string): string => `notice/${day}`

export function parseSubject(subject: string): Subject {
  const [key = '', place = ''] = subject.split('/')
  return key === 'notice'
    ? { kind: 'notice', day: place }
    : { kind: 'lineage', lineageKey: key, episode: Number(place) }
}

/** The episode that a lineage's subject names. */
export const episodeOf = (subject: string): number => Number(subject.split('/')[1])
