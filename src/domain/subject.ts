/** What subjects are: one revision's card, or one day's account notice. */
export type Subject = { kind: 'revision'; revisionKey: string; episode: number } | { kind: 'notice'; day: string }

export const revisionSubject = (revisionKey: string, episode: number): string => `${revisionKey}/${episode}`
export const noticeSubject = (day: string): string => `notice/${day}`

export function parseSubject(subject: string): Subject {
  const [key = '', place = ''] = subject.split('/')
  return key === 'notice'
    ? { kind: 'notice', day: place }
    : { kind: 'revision', revisionKey: key, episode: Number(place) }
}

/** The episode that a revision's subject names. */
export const episodeOf = (subject: string): number => Number(subject.split('/')[1])
