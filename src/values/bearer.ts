/** The token of an `Authorization: Bearer …` header; null when there is no such header. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null
}
