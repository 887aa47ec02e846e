import { sealedCallbackSecrets } from '../../access/applications/subscriptions/callback.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import type { Inbox } from '../../foundation/database/generated/client.ts'
import { signedHeaders, signingKey } from '../../foundation/outbound/standard-webhooks.ts'
import { isOneOf } from '../../foundation/values/secrets.ts'
import { type SealedSecrets, signingSecrets } from '../../shop/webhooks/secret.ts'

// Whether what came to an inbox is signed by one of the developer's own webhooks or applications, as a receiver would find out
// (https://www.standardwebhooks.com).

/** none: it is not signed. unknown: nothing of the developer's sends to this address. */
export type Signature = 'none' | 'verified' | 'wrong' | 'unknown'

/** What the scheme allows the clocks to differ. */
const TOLERANCE_MS = 5 * 60_000
/** A sender has two while its secret is being replaced. */
const SIGNATURES_MAX = 10
const SECRETS_MAX = 100
/** Of an application that very many stores use, the newest are looked at. */
const SUBSCRIPTIONS_MAX = 2_000

interface Candidate {
  /** In words. */
  readonly name: string
  readonly sealed: readonly string[]
}

/**
 * Checks a signature by the secrets of the developer's webhooks and callbacks that send to the inbox. `signer`: whose secret it is, or what
 * is wrong, in words.
 */
export async function checkSignature(
  services: DataServices,
  inbox: Inbox,
  { headers, body }: { headers: Readonly<Record<string, string | readonly string[] | undefined>>; body: Buffer },
): Promise<{ signature: Signature; signer: string }> {
  const given = (name: string) => (typeof headers[name] === 'string' ? headers[name] : '')
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(given)
  if (!signatures) return { signature: 'none', signer: '' }
  if (!id || !/^\d{1,12}$/.test(timestamp ?? '')) {
    return { signature: 'wrong', signer: 'webhook-id or webhook-timestamp is missing, or is none' }
  }
  const at = new Date(Number(timestamp) * 1_000)
  const candidates = await sendersTo(services, inbox)
  if (candidates.length === 0)
    return { signature: 'unknown', signer: 'No webhook or application of yours sends to this address' }
  const sent = signatures.split(' ', SIGNATURES_MAX)
  const signs = ({ sealed }: Candidate) =>
    sealed.some((each) => {
      const key = signingKey(services.secrets.open(each))
      return isOneOf(signedHeaders([key], id, at, body)['webhook-signature'], sent)
    })
  const signer = candidates.find(signs)
  if (signer === undefined)
    return { signature: 'wrong', signer: 'It is by none of your secrets, or the body was changed' }
  const isLate = Math.abs(services.now().getTime() - at.getTime()) > TOLERANCE_MS
  if (isLate) return { signature: 'wrong', signer: `It is by ${signer.name}, but more than five minutes old or early` }
  return { signature: 'verified', signer: signer.name }
}

/** The webhooks and applications of the developer whose address has the inbox's name in it. */
async function sendersTo({ db, now }: DataServices, { developerId, name }: Inbox): Promise<Candidate[]> {
  const at = now()
  const webhooks = await db.$queryRaw<(SealedSecrets & { id: number; name: string; store: string })[]>`
    SELECT w."id", w."name", "Store"."name" AS "store", w."secretSealed", w."formerSecretSealed", w."secretRotatedAt" FROM (
      SELECT w.* FROM "TestStore" t JOIN "Webhook" w ON w."storeId" = t."storeId" WHERE t."developerId" = ${developerId}
      UNION
      SELECT w.* FROM (
        SELECT s."id" FROM "Application" a JOIN "Subscription" s ON s."applicationId" = a."id"
        WHERE a."developerId" = ${developerId} ORDER BY s."id" DESC LIMIT ${SUBSCRIPTIONS_MAX}
      ) own JOIN "Webhook" w ON w."subscriptionId" = own."id"
    ) w JOIN "Store" ON "Store"."id" = w."storeId"
    WHERE strpos(w."url", ${name}) > 0 ORDER BY w."storeId" DESC, w."id" DESC LIMIT ${SECRETS_MAX}`
  const applications = await db.application.findMany({
    where: { developerId, callbackUrl: { contains: name } },
    select: { name: true, callbackSecretSealed: true, formerCallbackSecretSealed: true, callbackSecretRotatedAt: true },
    take: SECRETS_MAX,
  })
  return [
    ...webhooks.map((webhook) => ({
      name: `the webhook ${webhook.name} of ${webhook.store}`,
      sealed: signingSecrets(webhook, at),
    })),
    ...applications.map((application) => ({
      name: `callbacks of the application ${application.name}`,
      sealed: sealedCallbackSecrets(application, at),
    })),
  ]
}
