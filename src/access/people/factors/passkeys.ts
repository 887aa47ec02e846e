import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import type { DataServices, Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { readInput } from '../../../foundation/values/input.ts'
import type { AccountKind } from '../sessions.ts'
import { insertChallenge, type NewChallenge, type Purpose, useChallenge } from './challenges.ts'
import { factorColumns, isFactorInForce } from './in-force.ts'

// Passkeys (WebAuthn): key pairs of a person's devices, whose public halves lie here.

export type PasskeyServices = DataServices & { readonly config: { readonly publicUrl: string } }

/** Loaded by the first passkey, because it takes 25 MB. */
const webauthn = () => import('@simplewebauthn/server')

/** Whether browsers can have passkeys of this server: of a name, not of an IP address, and by https except on this machine. */
export function hasPasskeys({ publicUrl }: { readonly publicUrl: string }): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  return !isAddress && (protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost'))
}

function partyOf({ config }: PasskeyServices) {
  const { hostname, origin } = new URL(config.publicUrl)
  if (!hasPasskeys(config))
    throw new StoreFailure('invalid-state', 'Passkeys need a PUBLIC_URL with https and a host name')
  return { rpID: hostname, origin }
}

const TIMEOUT_MS = 300_000
/** Ed25519, ES256 and RS256, which are all that devices make. The library's further ones are experimental in Node. */
const ALGORITHMS = [-8, -7, -257]

type Owner = { readonly kind: AccountKind; readonly identityId: number }

/** Who is asked for a passkey, and what for. `identityId` null: nobody knows yet who signs in. */
export type Asking = Pick<NewChallenge, 'kind' | 'identityId'> & {
  readonly purpose: Exclude<Purpose, 'second-factor' | 'passkey-new'>
}

/** A passkey alone replaces password and factor, so the device must have made sure of its owner. */
const verificationOf = {
  'passkey-sign-in': 'required',
  'passkey-factor': 'preferred',
  'passkey-proof': 'required',
} as const

/** Makes what a browser needs to ask for a passkey (PublicKeyCredentialRequestOptionsJSON). It works once, for five minutes. */
export async function passkeyRequest(services: PasskeyServices, { purpose, kind, identityId }: Asking) {
  const { rpID } = partyOf(services)
  const known = identityId === null ? [] : await credentialsOf(services, identityId)
  const challenge = await insertChallenge(services.db, services, { purpose, kind, identityId })
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID,
    challenge: Buffer.from(challenge, 'base64url'),
    allowCredentials: known,
    userVerification: verificationOf[purpose],
    timeout: TIMEOUT_MS,
  })
}

/** Makes what a browser needs to create a passkey (PublicKeyCredentialCreationOptionsJSON). It works once, for five minutes. */
export async function passkeyCreation(services: PasskeyServices, owner: Owner & { readonly email: string }) {
  const { kind, identityId, email } = owner
  const { rpID } = partyOf(services)
  const known = await credentialsOf(services, identityId)
  const challenge = await insertChallenge(services.db, services, { purpose: 'passkey-new', kind, identityId })
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: 'store-platform',
    rpID,
    userID: Buffer.from(`identity ${identityId}`),
    userName: email,
    userDisplayName: email,
    challenge: Buffer.from(challenge, 'base64url'),
    attestationType: 'none',
    excludeCredentials: known,
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: TIMEOUT_MS,
  })
}

async function credentialsOf({ db }: PasskeyServices, identityId: number) {
  const select = { credentialId: true, transports: true } as const
  const rows = await db.passkey.findMany({ where: { identityId }, select, orderBy: { id: 'asc' } })
  return rows.map(({ credentialId, transports }) => ({ id: credentialId, transports }))
}

const notCredential = 'must be what the browser made of the passkey'
/** A form sends the credential as JSON text, a program may send it as an object. */
const credentialInput = z.preprocess(
  (sent) => (typeof sent === 'string' ? parsed(sent) : sent),
  z.looseObject(
    {
      id: z.string(notCredential).regex(/^[\w-]{1,1400}$/, notCredential),
      rawId: z.string(notCredential),
      type: z.literal('public-key', notCredential),
      response: z.looseObject({ clientDataJSON: z.string(notCredential) }, notCredential),
    },
    notCredential,
  ),
)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const sentCredential = z.object({ Credential: credentialInput })

/** Returns what a browser sent for a challenge, which is used up, and what it must have signed. Throws (401) if there is none. */
async function readCredential(services: PasskeyServices, { purpose, kind, identityId }: NewChallenge, sent: unknown) {
  const { rpID, origin } = partyOf(services)
  const { Credential } = readInput(sentCredential, { Credential: sent })
  const clientData = parsed(Buffer.from(Credential.response.clientDataJSON, 'base64url').toString())
  const challenge = (clientData as { challenge?: unknown } | null)?.challenge
  const asked = await useChallenge(services, { token: typeof challenge === 'string' ? challenge : '', purpose, kind })
  if (asked?.identityId !== identityId) throw notAccepted('no such challenge')
  const expected = { expectedChallenge: asked.challenge, expectedOrigin: origin, expectedRPID: rpID }
  return { credential: Credential, expected }
}

/**
 * Verifies what a device signed for `asking`, which works once whatever comes of it. Its use is not recorded yet. Throws (401) for what does not fit, with one
 * message for all reasons.
 */
export async function verifyPasskey(services: PasskeyServices, asking: Asking, sent: unknown) {
  const { purpose, identityId } = asking
  const { credential, expected } = await readCredential(services, asking, sent)
  const passkey = await services.db.passkey.findUnique({
    where: { credentialId: credential.id },
    include: { identity: { select: factorColumns } },
  })
  const isForeign = identityId !== null && passkey?.identityId !== identityId
  if (!passkey || isForeign || !isFactorInForce(passkey.identity, services.now())) throw notAccepted('no such passkey')
  const { verifyAuthenticationResponse } = await webauthn()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: credential as unknown as AuthenticationResponseJSON,
    ...expected,
    requireUserVerification: verificationOf[purpose] === 'required',
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: Number(passkey.counter),
      transports: passkey.transports,
    },
  }).catch(refuse)
  if (!verified) throw notAccepted('wrong signature')
  return { id: passkey.id, identityId: passkey.identityId, newCounter: authenticationInfo.newCounter }
}

type SignedPasskey = Awaited<ReturnType<typeof verifyPasskey>>

/** Records the use of a passkey. Throws (401) where it was removed meanwhile, or its counter was used by another device. */
export async function usePasskey(tx: Transaction, now: () => Date, { id, newCounter }: SignedPasskey): Promise<void> {
  const used = await tx.$executeRaw`
    UPDATE "Passkey" SET "counter" = ${newCounter}, "usedAt" = ${now()}
    WHERE "id" = ${id} AND ("counter" < ${newCounter} OR ("counter" = 0 AND ${newCounter}::bigint = 0))`
  if (used === 0) throw notAccepted('the counter did not rise')
}

const TRANSPORTS_MAX = 10
const TRANSPORT_LENGTH_MAX = 20

/** Verifies what a browser made for `passkeyCreation`, and returns it as it is stored. Throws (401) for what does not fit. */
export async function verifyNewPasskey(services: PasskeyServices, { kind, identityId }: Owner, sent: unknown) {
  const { credential, expected } = await readCredential(services, { purpose: 'passkey-new', kind, identityId }, sent)
  const { verifyRegistrationResponse } = await webauthn()
  const { registrationInfo } = await verifyRegistrationResponse({
    response: credential as unknown as RegistrationResponseJSON,
    ...expected,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(refuse)
  if (!registrationInfo) throw notAccepted('not verified')
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential
  const known = transports.filter((each) => typeof each === 'string' && each.length <= TRANSPORT_LENGTH_MAX)
  return { credentialId: id, publicKey: new Uint8Array(publicKey), counter, transports: known.slice(0, TRANSPORTS_MAX) }
}

function refuse(error: unknown): never {
  throw notAccepted(String(error))
}

function notAccepted(logDetail: string): StoreFailure {
  const message = 'The passkey was not accepted: try again, or use another way'
  return new StoreFailure('unauthorized', message, { field: 'Credential', logDetail: logDetail.slice(0, 200) })
}
