import { Registry } from 'prom-client'
import { createMailMetrics } from '../../../../src/access/mail/metrics.ts'
import { createMails } from '../../../../src/access/mail/send.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { listen } from '../../../../src/foundation/database/connection.ts'
import { lockProcess } from '../../../../src/foundation/database/process-lock.ts'
import { readConfig } from '../../../../src/foundation/process/settings.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { createOrderMails } from '../../../../src/shop/resources/order-mails/send.ts'

// What of the server sends mails, for a test that kills it: `node sending-child.ts URL SECRET SMTP_URL people|orders`.

const [url = '', secretKey = '', smtpUrl = '', queue = ''] = process.argv.slice(2)
await listen(url, {}, { onConnect: lockProcess, onLost: () => {} })
const services = {
  db: connect(url),
  secrets: createSecrets(secretKey),
  now: () => new Date(),
  log: { warn: (details: object, message: string) => console.error(message, details) },
  metrics: createMailMetrics(new Registry()),
  config: readConfig({ SMTP_URL: smtpUrl, MAIL_FROM: 'mail@shop.example' }),
}
const mails = queue === 'orders' ? createOrderMails(services) : createMails(services)
mails.start()
