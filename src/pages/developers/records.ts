import type { OwnApplication } from '../../applications/own-applications.ts'
import type { UsingStore } from '../../applications/using-stores.ts'
import type { CallbackTest } from '../../subscriptions/callback-test.ts'

// The wire names of the developers' routes. Privileges null: everything.

export function applicationRecord(application: OwnApplication) {
  return {
    Id: application.id,
    Name: application.name,
    PublicKey: application.publicKey,
    PrivateKey: application.privateKey,
    FormerPrivateKeyUntil: application.formerPrivateKeyUntil?.toISOString() ?? null,
    CallBackURL: application.callbackUrl,
    CallBackSecret: application.callbackSecret,
    RedirectURIs: application.redirectUris,
    Privileges: application.privileges,
    DateCreated: application.createdAt.toISOString(),
  }
}

export function usingStoreRecord(store: UsingStore) {
  const { id, name, secureUrl, token, privileges, lastUsedAt, createdAt } = store
  return {
    Id: id,
    Name: name,
    SecureURL: secureUrl,
    Token: token,
    Privileges: privileges,
    DateLastUsed: lastUsedAt?.toISOString() ?? null,
    DateCreated: createdAt.toISOString(),
  }
}

/** `Status` null: there was no answer. `Reason` null: the answer is the 200 that subscribes. */
export function callbackTestRecord({ messageId, sent, result }: CallbackTest) {
  return {
    MessageId: messageId,
    Sent: JSON.parse(sent),
    Status: result.status,
    Reason: result.ok ? null : result.reason,
    Milliseconds: result.durationMs,
    Answer: result.body,
    PostBackURL: result.ok ? result.postBackUrl : null,
  }
}
