import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Privileges } from '../../engine/caller.ts'
import {
  byId,
  inTransaction,
  type JoiningServices,
  type Paging,
  type SealingServices,
  type Transaction,
} from '../../foundation/database/client.ts'
import { type Application as ApplicationRow, Prisma } from '../../foundation/database/generated/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import { newSigningSecret } from '../../foundation/outbound/standard-webhooks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { generateKey, type Secrets } from '../../foundation/values/secrets.ts'
import { type Actor, aboutApplication, installation, recordAudit, recordAuditInStores } from '../audit/audit.ts'
import { type AccessServices, changeAccess } from '../stores/access-changes.ts'
import { broughtKeyInput, requireFreeKeys } from '../stores/brought-keys.ts'
import { rateLimitColumns, rateLimitOf, throttleInput } from '../stores/rate-limit.ts'
import { type KeyRotation, privateKeyColumns, replacePrivateKey } from './private-keys.ts'
import { namedPrivileges, samePrivileges, withoutNamed } from './privileges.ts'
import { type ApplicationKind, applicationName, type SettingsRules, settingsInput } from './settings-input.ts'

/** The body of `POST /admin/applications` (contract §10.1). */
export function newApplication(rules: SettingsRules) {
  return namedObject({
    Name: text(200).describe(applicationName),
    ...settingsInput(rules),
    Throttle: throttleInput,
    PublicKey: broughtKeyInput.describe(
      'A public key that the application has from another platform. It comes with PrivateKey and Privileges.',
    ),
    PrivateKey: broughtKeyInput.describe('The private key that belongs to PublicKey.'),
  }).superRefine(({ PublicKey, PrivateKey, Privileges }, context) => {
    if (PublicKey === undefined && PrivateKey === undefined) return
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (PublicKey === undefined) refuse('PublicKey', 'is missing: PublicKey and PrivateKey come together')
    if (PrivateKey === undefined) refuse('PrivateKey', 'is missing: PublicKey and PrivateKey come together')
    if (!Privileges) refuse('Privileges', 'must name the services that an application with keys of its own may use')
  })
}

/** The body of `PUT /admin/applications/{id}`. */
export function changedApplication(rules: SettingsRules) {
  return namedObject({
    Name: text(200).optional().describe(applicationName),
    ...settingsInput(rules),
    Throttle: throttleInput,
    OpenToMerchants: z
      .boolean('must be true or false')
      .optional()
      .describe('True: merchants may let it into their stores themselves, by OAuth or its public key.'),
  })
}

/**
 * Registers an application of the operator. Privileges omitted or null: all. Throttle: the contract's rate limit. With a
 * PublicKey and a PrivateKey that were made elsewhere, it is closed to merchants until the operator opens it. Throws for keys
 * that cannot be used here (400), with one message for all reasons.
 */
export async function registerApplication(
  { db, secrets, now }: JoiningServices,
  given: z.output<ReturnType<typeof newApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const { PublicKey, PrivateKey } = given
  const areKeysBrought = PublicKey !== undefined
  const data = {
    ...newApplicationColumns(given, { secrets, now }),
    ...rateLimitColumns(given.Throttle),
    ...(areKeysBrought && {
      publicKey: PublicKey,
      ...privateKeyColumns(secrets, PrivateKey),
      privateKeyBroughtAt: now(),
      openToMerchants: false,
    }),
  }
  return inTransaction(db, async (tx) => {
    await requireFreeKeys(tx, secrets, { PublicKey, PrivateKey })
    const row = await tx.application.create({ data })
    const about = { actor, ...aboutApplication(row) }
    await recordAudit(tx, now, { ...about, action: 'application.created' })
    if (areKeysBrought) await recordAudit(tx, now, { ...about, action: 'application.keys-brought' })
    return applicationOf(row, secrets)
  })
}

type Settings = Omit<z.output<ReturnType<typeof changedApplication>>, 'Throttle' | 'OpenToMerchants'>

/** The columns that all new applications have, with new keys. */
export function newApplicationColumns(given: Settings & { readonly Name: string }, { secrets, now }: SealingServices) {
  const { Name: name, Kind: kind = 'existing', Privileges = null } = given
  const { CallBackURL: callbackUrl = null, Erasures: wantsErasures = false, RedirectURIs: redirectUris = [] } = given
  const keys = { publicKey: generateKey(), ...privateKeyColumns(secrets) }
  const settings = { name, kind, callbackUrl, wantsErasures, redirectUris, privileges: privilegesColumn(Privileges) }
  return { ...settings, ...keys, callbackSecretSealed: secrets.seal(newSigningSecret()), createdAt: now() }
}

export function settingsColumns(given: Settings) {
  const { Name, Kind, CallBackURL, Erasures, RedirectURIs, Privileges } = given
  return {
    ...(Name !== undefined && { name: Name }),
    ...(Kind !== undefined && { kind: Kind }),
    ...(Privileges !== undefined && { privileges: privilegesColumn(Privileges) }),
    ...(CallBackURL !== undefined && { callbackUrl: CallBackURL }),
    ...(Erasures !== undefined && { wantsErasures: Erasures }),
    ...(RedirectURIs !== undefined && { redirectUris: RedirectURIs }),
  }
}

export function privilegesColumn(privileges: Privileges) {
  return privileges === null ? Prisma.DbNull : (privileges as Prisma.InputJsonObject)
}

export type Application = ReturnType<typeof applicationOf>

export function applicationOf(row: ApplicationRow, secrets: Secrets) {
  const { id, name, publicKey, createdAt } = row
  return {
    id,
    name,
    publicKey,
    privateKey: secrets.open(row.privateKeySealed),
    /** When the private key was brought along. Null: it was made here. */
    privateKeyBroughtAt: row.privateKeyBroughtAt,
    /** False: it is no OAuth client, merchants do not find it, and its CallBackURL is not called. */
    openToMerchants: row.openToMerchants,
    kind: row.kind as ApplicationKind,
    /** Null: no callback before a store subscribes or unsubscribes. */
    callbackUrl: row.callbackUrl,
    /** Whether callbackUrl is told of erasures. */
    wantsErasures: row.wantsErasures,
    redirectUris: row.redirectUris,
    /** By service, spelt as in the registry. Null: all privileges. */
    privileges: row.privileges as Privileges,
    /** The rate limit in each store. Null: the contract's rate limit. */
    throttle: rateLimitOf(row),
    createdAt,
  }
}

/** Lists applications by ascending id. */
export async function listApplications({ db, secrets }: JoiningServices, page: Paging): Promise<Application[]> {
  const rows = await db.application.findMany(byId(page))
  return rows.map((row) => applicationOf(row, secrets))
}

/**
 * Changes the given fields of an application; null resets Privileges and Throttle to their defaults. Both take effect
 * at once. The new privileges apply in every store that uses the application, regardless of what its merchant agreed
 * to, and are recorded in those stores' audit logs. Throws for an unknown id (404), and for null as the Privileges of an application
 * that is closed to merchants (400).
 */
export async function updateApplication(
  services: AccessServices,
  id: number,
  given: z.output<ReturnType<typeof changedApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const { secrets, now } = services
  const { Privileges, Throttle, OpenToMerchants } = given
  const data: Prisma.ApplicationUpdateInput = {
    ...settingsColumns(given),
    ...(Throttle !== undefined && rateLimitColumns(Throttle)),
    ...(OpenToMerchants !== undefined && { openToMerchants: OpenToMerchants }),
  }
  return changeAccess(services, async (tx) => {
    const before = await lockApplication(tx, id)
    if (Privileges === null && !(OpenToMerchants ?? before.openToMerchants)) {
      const message = 'Privileges must name the services that an application closed to merchants may use'
      throw new StoreFailure('invalid-value', message, { field: 'Privileges' })
    }
    const after = await tx.application.update({ where: { id }, data })
    const about = { actor, ...aboutApplication(after) }
    const details = { changed: changedFields(before, after) }
    if (details.changed.length > 0) await recordAudit(tx, now, { ...about, action: 'application.changed', details })
    if (after.openToMerchants !== before.openToMerchants) {
      const action = after.openToMerchants ? 'application.opened' : 'application.closed'
      await recordAudit(tx, now, { ...about, action })
      // Its address must not be called any more.
      if (!after.openToMerchants) await tx.removalNotice.deleteMany({ where: { applicationId: id } })
    }
    if (Privileges !== undefined) {
      const privileges = withoutNamed(Privileges)
      // What each store has to agree to by name itself stays.
      const agreed = sql`(${privileges && JSON.stringify(privileges)}::jsonb || (
        SELECT coalesce(jsonb_object_agg("key", "value"), '{}') FROM jsonb_each("Subscription"."privileges")
        WHERE "key" = ANY (${Object.keys(namedPrivileges)}::text[])))`
      const where = sql`"privileges" IS DISTINCT FROM ${agreed}`
      const given = { privileges: privileges as Prisma.InputJsonValue }
      await recordAuditInStores(tx, now, { ...about, action: 'subscription.agreed', details: given, where })
      await tx.$executeRaw`UPDATE "Subscription" SET "privileges" = ${agreed} WHERE "applicationId" = ${id}`
    }
    return applicationOf(after, secrets)
  })
}

/** Replaces the private key of any application as `replacePrivateKey` does. Throws for an unknown id (404). */
export function rotateKeyOfApplication(services: AccessServices, id: number, given: KeyRotation, actor: Actor) {
  return changeAccess(services, async (tx) => {
    await replacePrivateKey(tx, services, { former: await lockApplication(tx, id), given, actor })
    return applicationOf(await tx.application.findUniqueOrThrow({ where: { id } }), services.secrets)
  })
}

async function lockApplication(tx: Transaction, id: number): Promise<ApplicationRow> {
  await tx.$queryRaw`SELECT 1 FROM "Application" WHERE "id" = ${id} FOR NO KEY UPDATE`
  const row = await tx.application.findUnique({ where: { id } })
  if (!row) throw new StoreFailure('not-found', `No application has the id ${id}`, { field: String(id) })
  return row
}

/** Returns the names of the changed fields, without values: an address may contain a secret of its owner. */
export function changedFields(before: ApplicationRow, after: ApplicationRow): string[] {
  const isSame = {
    name: before.name === after.name,
    kind: before.kind === after.kind,
    callbackUrl: before.callbackUrl === after.callbackUrl,
    wantsErasures: before.wantsErasures === after.wantsErasures,
    redirectUris: isDeepStrictEqual(before.redirectUris, after.redirectUris),
    privileges: samePrivileges(before.privileges as Privileges, after.privileges as Privileges),
    throttle: isDeepStrictEqual(rateLimitOf(before), rateLimitOf(after)),
  }
  return Object.entries(isSame).flatMap(([name, same]) => (same ? [] : [name]))
}
