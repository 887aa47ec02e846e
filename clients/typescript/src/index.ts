export type { components, paths, webhooks } from '../lib/schema.d.ts'
export { type AccountOptions, createAccount } from './account.ts'
export { type Answer, type ClientOptions, type Credentials, createClient, type StoreClient } from './client.ts'
export { type ErrorCode, NoAnswerError, type ResultItem, StoreError } from './errors.ts'
export { type Authorization, createOAuth, OAuthError, type OAuthOptions, type Tokens } from './oauth.ts'
export type { RetryOptions } from './send.ts'
export type { BodyOf, ListPath, Path, QueryOf, RecordOf } from './types.ts'
export {
  type Callback,
  type Notification,
  type ReceivedRequest,
  VerificationError,
  type VerifyOptions,
  verifyCallback,
  verifyNotification,
} from './webhooks.ts'
