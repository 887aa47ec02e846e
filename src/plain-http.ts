/** Why a request over plain http is refused: PUBLIC_URL is https (contract §4.1). Null: it is not refused. */
export function plainHttpFault(publicUrl: string, { protocol }: { readonly protocol: string }): string | null {
  const isRefused = publicUrl.startsWith('https:') && protocol !== 'https'
  return isRefused ? `Use ${publicUrl}: plain http is refused` : null
}
