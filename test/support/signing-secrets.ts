import type { Secrets } from '../../src/foundation/values/secrets.ts'
import { type SealedSecrets, signingSecrets as sealedSecrets } from '../../src/shop/webhooks/secret.ts'

/** The secrets that sign a webhook's notifications at this time, newest first. */
export function signingSecrets(secrets: Pick<Secrets, 'open'>, webhook: SealedSecrets, at: Date): string[] {
  return sealedSecrets(webhook, at).map((sealed) => secrets.open(sealed))
}
