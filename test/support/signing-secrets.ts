import type { Secrets } from '../../src/values/secrets.ts'
import { type SecretSeeds, secretOfSeed, signingSeeds } from '../../src/webhooks/secret.ts'

/** The secrets that sign a webhook's notifications at this time, newest first. */
export function signingSecrets(secrets: Pick<Secrets, 'derive'>, webhook: SecretSeeds, at: Date): string[] {
  return signingSeeds(webhook, at).map((seed) => secretOfSeed(secrets, seed))
}
