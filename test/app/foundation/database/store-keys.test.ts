import { expect, test } from 'vitest'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { shared } from '../../../support/shared.ts'

const NO_STORE = 'Applications, developers and merchants’ accounts are named where no store is known.'
const BY_HASH = 'Found by its hash before the store is known. The hash of a random secret is unique in all stores.'
const ALL_STORES =
  'One sequence of all stores, by which events are numbered, sent and swept. The store in it too would cost each change one more index.'
const SUMMAND =
  'Rows without identity, of which triggers take one that nobody holds. They are found by the index of the store.'

/** Keys that do not begin with the store, and why they may. */
const exceptions: Readonly<Record<string, string>> = {
  AuditEntry_pkey:
    'Entries of developers and the operator have no store, and the operator reads all of them in one order.',
  CustomerLoginToken_pkey: BY_HASH,
  Delivery_eventId_fkey: ALL_STORES,
  Delivery_eventId_storeId_webhookId_key:
    'Serves the foreign key to the event as well, whose id alone tells the store.',
  Delivery_pkey: ALL_STORES,
  EndedToken_pkey: BY_HASH,
  Event_pkey: ALL_STORES,
  Handshake_applicationId_fkey: NO_STORE,
  Invitation_invitedById_fkey: NO_STORE,
  Invitation_tokenHash_key: BY_HASH,
  Mail_identityId_fkey: 'A person belongs to several stores; writeMail takes the identity of the cause.',
  Mail_messageId_key: 'Random, and unique in all stores as RFC 5322 asks. Mails to developers have no store.',
  Mail_pkey: 'A queue of all stores by time. Mails to developers have no store.',
  RecordCount_pkey: SUMMAND,
  ReferencedVersion_pkey: SUMMAND,
  RemovalNotice_applicationId_fkey: NO_STORE,
  RemovalNotice_pkey: 'A queue of all stores by time, whose rows outlive the subscription.',
  SalesSum_pkey: SUMMAND,
  Session_developerId_fkey: NO_STORE,
  Session_operatorId_fkey: NO_STORE,
  Session_pkey: 'Sessions of developers and merchants have no store: a merchant is signed in to several.',
  Session_storeUserId_fkey: NO_STORE,
  Session_tokenHash_key: BY_HASH,
  StockMovement_pkey:
    'One sequence of all stores, by which old movements are found. A product’s are found by the index of the store.',
  StoreHost_pkey: 'Stores are found by it, and no two may have one host.',
  StoreUser_identityId_email_fkey: NO_STORE,
  StoreUser_pkey: NO_STORE,
  Subscription_applicationId_fkey: NO_STORE,
  Subscription_pkey: 'Named by access tokens, codes and the log of calls, which are found before the store is known.',
  Subscription_tokenHash_key: BY_HASH,
  TestStore_developerId_fkey: NO_STORE,
}

const database = await shared(cloneDatabase())
const client = await shared(openClient(database.url))

async function breaches(): Promise<string[]> {
  const { rows } = await client.query<{ breach: string }>(`
    WITH "ofStore" AS (
      SELECT c.oid, c.relname::text AS "table", a.attnum AS "storeId" FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'storeId' AND NOT a.attisdropped
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p'))
    SELECT n.relname AS "breach" FROM "ofStore" s
    JOIN pg_index i ON i.indrelid = s.oid AND i.indisunique JOIN pg_class n ON n.oid = i.indexrelid
    WHERE i.indkey[0] <> s."storeId"
    UNION ALL
    SELECT k.conname FROM "ofStore" s
    JOIN pg_constraint k ON k.conrelid = s.oid AND k.contype = 'f' WHERE k.conkey[1] <> s."storeId"
    UNION ALL
    SELECT s."table" FROM "ofStore" s WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = s.oid AND i.indisprimary)
    ORDER BY 1`)
  return rows.map(({ breach }) => breach)
}

test('every primary key, unique index and foreign key of a table with a store begins with the store, or has a reason not to', async () => {
  expect(await breaches()).toEqual(Object.keys(exceptions).sort())
})

test('a new table whose keys do not begin with the store is noticed', async () => {
  await client.query(`BEGIN;
    CREATE TABLE "Coupon" ("id" int PRIMARY KEY, "storeId" int REFERENCES "Store", "code" text UNIQUE,
      "applicationId" int REFERENCES "Application", UNIQUE ("storeId", "code"));
    CREATE TABLE "Visit" ("storeId" int)`)
  const found = new Set(await breaches()).difference(new Set(Object.keys(exceptions)))
  await client.query('ROLLBACK')
  expect([...found]).toEqual(['Coupon_applicationId_fkey', 'Coupon_code_key', 'Coupon_pkey', 'Visit'])
})
