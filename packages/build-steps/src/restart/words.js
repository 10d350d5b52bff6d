// @ts-check

const WORDS = new Map([
  ['initiated', 'running'],
  ['testing', 'running'],
  ['waiting', 'waiting'],
  ['success', 'passed'],
  ['error', 'failed'],
  ['failed', 'failed'],
  ['stopped', 'stopped'],
  ['infrastructure_failure', 'CI machine error'],
  ['ignored', 'not built'],
  ['blocked', 'blocked'],
])

/** A status in the bot's words. An unknown one is shown unchanged. @param {string} status */
export const wordOf = (status) => WORDS.get(status) ?? (status.trim() || 'status unknown')
