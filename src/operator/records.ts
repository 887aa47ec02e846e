import type { Application } from '../applications/applications.ts'
import type { RateLimit } from '../applications/throttle.ts'
import type { PaymentMethod } from '../resources/payment-methods/update-methods.ts'
import type { Store } from '../stores/stores.ts'
import type { Subscribed, Subscription } from '../subscriptions/subscription-rows.ts'

// The wire names of the operator's routes. Throttle null: the contract's rate limit; Privileges null: everything.

export function storeRecord(store: Store) {
  const { id, name, secureUrl, userKey, currency, timeZone, cartApi, throttle, createdAt } = store
  return {
    Id: id,
    Name: name,
    SecureURL: secureUrl,
    UserKey: userKey,
    Currency: currency,
    TimeZone: timeZone,
    CartAPI: { Enabled: cartApi.enabled, Addresses: cartApi.addresses },
    Throttle: throttleRecord(throttle),
    DateCreated: createdAt.toISOString(),
  }
}

export function applicationRecord(application: Application) {
  const { id, name, publicKey, privateKey, privileges, throttle, createdAt } = application
  return {
    Id: id,
    Name: name,
    PublicKey: publicKey,
    PrivateKey: privateKey,
    Privileges: privileges,
    Throttle: throttleRecord(throttle),
    DateCreated: createdAt.toISOString(),
  }
}

export function subscriptionRecord(subscription: Subscription) {
  const { id, applicationId, name, publicKey, token, privileges, askedPrivileges } = subscription
  const { postBackUrl, lastUsedAt, createdAt } = subscription
  return {
    Id: id,
    ApplicationId: applicationId,
    Name: name,
    PublicKey: publicKey,
    Token: token,
    Privileges: privileges,
    PrivilegesAsked: askedPrivileges,
    PostBackURL: postBackUrl,
    DateLastUsed: lastUsedAt?.toISOString() ?? null,
    DateCreated: createdAt.toISOString(),
  }
}

export function subscribedRecord({ token, postBackUrl }: Subscribed) {
  return { Token: token, ...(postBackUrl !== null && { PostBackURL: postBackUrl }) }
}

export function paymentMethodRecord({ id, name, visible }: PaymentMethod) {
  return { PaymentMethodID: id, Name: name, Visible: visible }
}

function throttleRecord(rateLimit: RateLimit | null) {
  return rateLimit && { Capacity: rateLimit.capacity, LeakPerSecond: rateLimit.leakPerSecond }
}
