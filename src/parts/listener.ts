import { accessChannel } from '../applications/access-changes.ts'
import type { Authenticator } from '../applications/authenticate.ts'
import { listen } from '../database/connection.ts'
import { lockProcess, noteLostLock } from '../database/process-lock.ts'
import { deliveriesChannel, eventsChannel } from '../engine/recording/announce.ts'
import { announceKeys, joinProcesses } from '../installation/secret-key/keys-in-use.ts'
import type { Log } from '../process/log.ts'
import type { Secrets } from '../values/secrets.ts'
import type { Dispatcher } from '../webhooks/dispatch/dispatcher.ts'

interface ListenerServices {
  readonly authenticator: Authenticator
  readonly dispatcher: Dispatcher
  readonly secrets: Secrets
  readonly log: Log
}

/** Lets other processes' changes of access and their events reach this one, and tells them which keys it has. */
export function listenToDatabase(url: string, { authenticator, dispatcher, secrets, log }: ListenerServices) {
  const channels = {
    [accessChannel]: authenticator.invalidate,
    [eventsChannel]: () => dispatcher.eventsCommitted(),
    [deliveriesChannel]: (by: string) => dispatcher.deliveriesDue(by),
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
