/** The texts above a page after a form succeeded, by the `notice` in its address. */
const notices: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'password-changed': 'Your password is changed. You are signed out everywhere else.',
  'sessions-ended': 'You are signed out there.',
  'application-created': 'The application is registered.',
  'application-changed': 'The changes are saved.',
  'application-deleted': 'The application is deleted, and so are its tokens.',
  'key-rotated': 'There is a new private key.',
  'secret-rotated': 'There is a new callback secret. For 24 hours callbacks carry the signatures of both.',
  subscribed: 'The application may work for your store now.',
  agreed: 'The application may do now what it asked for.',
  unsubscribed: 'The application is removed. Its token no longer works.',
  'user-key-rotated': 'There is a new user key. The former one no longer works.',
  'settings-saved': 'The settings are saved.',
  'webhook-added': 'The webhook is added. Send a test event to see that it arrives.',
  'webhook-saved': 'The changes are saved. They count from the next attempt on.',
  'webhook-off': 'The webhook is switched off. What waited for it is not sent any more.',
  'webhook-resumed': 'The webhook is on again.',
  'webhook-caught-up': 'The webhook is on again, and what it missed is on its way.',
  'webhook-secret': 'There is a new secret. For 24 hours notifications carry the signatures of both.',
  'webhook-deleted': 'The webhook is deleted.',
  'order-placed': 'The order is placed.',
  'status-changed': 'The status is changed.',
}

export type Notice = keyof typeof notices

export function noticeOf(query: unknown): string | null {
  const name = (query as { notice?: unknown } | undefined)?.notice
  return typeof name === 'string' && Object.hasOwn(notices, name) ? (notices[name] ?? null) : null
}
