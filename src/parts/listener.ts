import type { Authenticator } from '../access/applications/authenticate.ts'
import type { Mails } from '../access/mail/send.ts'
import { accessChannel } from '../access/stores/access-changes.ts'
import { deliveriesChannel, erasuresChannel, eventsChannel, mailsChannel } from '../engine/recording/events.ts'
import { listen } from '../foundation/database/connection.ts'
import { lockProcess, noteLostLock } from '../foundation/database/process-lock.ts'
import type { Log } from '../foundation/process/log.ts'
import type { Secrets } from '../foundation/values/secrets.ts'
import { announceKeys, joinProcesses } from '../operations/installation/secret-key/keys-in-use.ts'
import type { Dispatcher } from '../shop/webhooks/dispatch/dispatcher.ts'

interface ListenerServices {
  readonly authenticator: Authenticator
  readonly dispatcher: Dispatcher
  /** Null: this process sends none. */
  readonly mails: Pick<Mails, 'wake'> | null
  readonly erasedIds: { readonly wake: () => void }
  readonly secrets: Secrets
  readonly log: Log
}

/** Lets other processes' changes of access, their events and their mails reach this one, and tells them which keys it has. */
export function listenToDatabase(
  url: string,
  { authenticator, dispatcher, mails, erasedIds, secrets, log }: ListenerServices,
) {
  const channels = {
    [accessChannel]: authenticator.invalidate,
    [eventsChannel]: () => dispatcher.eventsCommitted(),
    [deliveriesChannel]: (by: string) => dispatcher.deliveriesDue(by),
    [mailsChannel]: () => mails?.wake(),
    [erasuresChannel]: erasedIds.wake,
  }
  let hasJoined = false
  return listen(url, channels, {
    onConnect: async (client) => {
      authenticator.invalidate()
      await lockProcess(client)
      await (hasJoined ? announceKeys(client, secrets) : joinProcesses(client, secrets))
      hasJoined = true
    },
    onLost: (error) => {
      noteLostLock()
      log.warn({ err: error }, 'the listening connection was lost')
    },
  })
}
