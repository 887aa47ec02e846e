export { createAccount } from './account.js';
export { createClient } from './client.js';
export { NoAnswerError, StoreError } from './errors.js';
export { createOAuth, OAuthError } from './oauth.js';
export { VerificationError, verifyCallback, verifyNotification, } from './webhooks.js';
