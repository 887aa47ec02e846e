const secrets: string[] = []

/** Keeps these keys out of everything that is printed from now on. */
export function keepSecret(...keys: (string | null)[]): void {
  secrets.push(...keys.filter((key) => key !== null))
}

/** Returns a text without keys and what a terminal obeys: control characters but line breaks, and marks of the direction of writing. */
export function printable(text: string): string {
  const plain = text.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, ' ')
  return secrets.reduce((left, key) => left.replaceAll(key, '…'), plain)
}

/** Returns the beginning of a text that somebody else wrote, on one line and by whole words, because half a key is not recognised. */
export function beginningOf(text: string, lengthMax: number): string {
  const line = printable(text).replaceAll('\n', ' ')
  return line.length > lengthMax ? `${line.slice(0, lengthMax).replace(/\S*$/, '')}…` : line
}
