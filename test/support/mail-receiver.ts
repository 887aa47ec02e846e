import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail that was accepted. */
export interface ReceivedMail {
  /** The envelope. */
  readonly from: string
  readonly to: readonly string[]
  /** By name in lower case, unfolded. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  readonly html: string
}

export interface MailReceiver {
  /** SMTP_URL, with the user and password that the server wants. */
  readonly url: string
  readonly port: number
  readonly mails: ReceivedMail[]
  /** How the next mails are refused; null: they are accepted. */
  refusal: { readonly step: 'MAIL FROM' | 'RCPT TO' | 'DATA'; readonly code: number; readonly text: string } | null
  /** Runs when a mail has arrived whole, before it is answered. */
  onArrival: () => Promise<unknown> | unknown
  /** The last that has arrived. Throws where none has. */
  readonly last: () => ReceivedMail
  /** Forgets what has arrived, and takes all mails. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

const USER = 'shop@mail.example'
export const PASSWORD = 'p:ss/word'

/** A mail server on this machine, at `port` or a free one. */
export async function openMailReceiver(port = 0): Promise<MailReceiver> {
  const refused = (step: string) => {
    const { refusal } = receiver
    return refusal?.step === step ? Object.assign(new Error(refusal.text), { responseCode: refusal.code }) : null
  }
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === USER && password === PASSWORD) return done(null, { user: username })
      done(Object.assign(new Error(`No ${username} with ${password}`), { responseCode: 535 }))
    },
    onMailFrom: (_address, _session, done) => done(refused('MAIL FROM')),
    onRcptTo: (_address, _session, done) => done(refused('RCPT TO')),
    onData: (stream, { envelope }, done) => {
      const take = async () => {
        let raw = ''
        for await (const chunk of stream.setEncoding('latin1')) raw += chunk
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const mail = { from, to: envelope.rcptTo.map(({ address }) => address), ...parse(raw) }
        const refusal = refused('DATA')
        if (refusal) throw refusal
        receiver.mails.push(mail)
        await receiver.onArrival()
      }
      // Fails as well when the client is killed in the middle.
      take().then(() => done(), done)
    },
  })
  // A client that is killed leaves a broken connection.
  server.on('error', () => {})
  const listener = server.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const { port: own } = listener.address() as AddressInfo
  const receiver: MailReceiver = {
    url: `smtp://${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${own}`,
    port: own,
    mails: [],
    refusal: null,
    onArrival: () => {},
    last: () => {
      const mail = receiver.mails.at(-1)
      if (mail === undefined) throw new Error('No mail has arrived')
      return mail
    },
    reset: () => Object.assign(receiver, { refusal: null, onArrival: () => {} }).mails.splice(0),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  return receiver
}

/** Reads what nodemailer makes: a text, or a text and an HTML part, each quoted-printable, base64 or as it is. */
function parse(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = split(raw)
  const [, boundary = null] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? []
  if (boundary === null) return { headers, text: decoded({ headers, body }), html: '' }
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '')))
  const textOf = (type: string) => {
    const part = parts.find(({ headers }) => headers.get('content-type')?.startsWith(type))
    return part ? decoded(part) : ''
  }
  return { headers, text: textOf('text/plain'), html: textOf('text/html') }
}

function split(entity: string) {
  const end = entity.indexOf('\r\n\r\n')
  const lines = entity
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { headers, body: entity.slice(end + 4) }
}

function decoded({ headers, body }: ReturnType<typeof split>): string {
  const encoding = headers.get('content-transfer-encoding')
  const quoted = (text: string) =>
    text.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  const plain = encoding === 'quoted-printable' ? quoted(body) : body
  const bytes = Buffer.from(plain, encoding === 'base64' ? 'base64' : 'latin1')
  return bytes.toString('utf8').replaceAll('\r\n', '\n').trimEnd()
}
