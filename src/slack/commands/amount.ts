/** The number of minutes in `30m`, of hours in `4h`, or of days in `30d`; null if the word is no such amount. */
export function amountOf(word: string, unit: 'm' | 'h' | 'd'): number | null {
  const [, digits] = new RegExp(`^(\\d{1,4})${unit}$`, 'i').exec(word) ?? []
  return digits === undefined ? null : Number(digits)
}
