import { Registry } from 'prom-client'
import { connect } from '../../../src/database/client.ts'
import { listen } from '../../../src/database/connection.ts'
import { lockProcess } from '../../../src/database/process-lock.ts'
import { createMailMetrics } from '../../../src/mail/metrics.ts'
import { createMails } from '../../../src/mail/send.ts'
import { createSecrets } from '../../../src/values/secrets.ts'

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
