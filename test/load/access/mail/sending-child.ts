import { Registry } from 'prom-client'
import { createMailMetrics } from '../../../../src/access/mail/metrics.ts'
import { createMails } from '../../../../src/access/mail/send.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { listen } from '../../../../src/foundation/database/connection.ts'
import { lockProcess } from '../../../../src/foundation/database/process-lock.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'

// What of the server sends mails, for a test that kills it: `node sending-child.ts URL SECRET SMTP_URL`.

const [url = '', secretKey = '', smtpUrl = ''] = process.argv.slice(2)
await listen(url, {}, { onConnect: lockProcess, onLost: () => {} })
createMails({
  db: connect(url),
  secrets: createSecrets(secretKey),
  now: () => new Date(),
  log: { warn: (details, message) => console.error(message, details) },
  metrics: createMailMetrics(new Registry()),
  config: { smtpUrl, mailFrom: { name: '', address: 'mail@shop.example' } },
}).start()
