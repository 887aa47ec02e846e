import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { subscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { createOutbound } from '../../../../src/foundation/outbound/outbound.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'

// A process that subscribes a store, for a test that kills it: `node subscribe-child.ts URL SECRET STORE PUBLICKEY`.

const [url = '', secretKey = '', storeId, publicKey = ''] = process.argv.slice(2)
const db = connect(url)
const secrets = createSecrets(secretKey)
const now = () => new Date()
await subscribe(
  {
    db,
    secrets,
    now,
    authenticator: createAuthenticator({ db, secrets, now }),
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
  },
  { storeId: Number(storeId), publicKey, actor: { kind: 'operator', name: '', address: '' } },
)
