// Why headings of the platform's files from which a merchant comes are left out.

export const noMember = 'has nothing that it could mean here'
export const written = 'is written by the platform itself'

/** The problem of each of these headings, which blanks separate. */
export function leftOut(headings: string, problem: string): Record<string, string> {
  return Object.fromEntries(headings.split(' ').map((heading) => [heading, problem]))
}
