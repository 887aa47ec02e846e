import nodemailer, { type NodemailerError } from 'nodemailer'
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Mail } from '../../foundation/database/generated/client.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { isLoopbackHost } from '../../foundation/values/loopback.ts'
import type { Content } from './render.ts'

/** The time of each step: the connection, the greeting, each silence. */
const STEP_MS_MAX = 20_000
/** All steps together. */
export const SENDING_MS_MAX = 60_000
const REASON_LENGTH_MAX = 500
const RECIPIENT_STEPS = ['RCPT TO', 'DATA']

export type Letter = Content & Pick<Mail, 'messageId' | 'recipient' | 'subject' | 'createdAt'>

/** What came of an attempt. `bounced`: the server refused the recipient or the mail for good. */
export type Attempt =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'bounced' | 'failed' /** May be shown: without secrets. */; readonly reason: string }

/** Returns the function that sends a mail by SMTP, over a connection of its own, in a minute at most. It never throws. Null: no mail can be sent. */
export function smtpSender({ smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>) {
  if (smtpUrl === null || mailFrom === null) return null
  const transport = nodemailer.createTransport(connectionTo(new URL(smtpUrl)))
  return async (letter: Letter, stopped: AbortSignal): Promise<Attempt> => {
    const { messageId, recipient: address, createdAt: date, from = mailFrom, ...content } = letter
    const headers = { 'Auto-Submitted': 'auto-generated' }
    const to = { name: '', address }
    try {
      // Built here, because what fails within a connection would end the process.
      const composer = new MailComposer({ ...content, from: { ...from }, to, messageId, date, headers })
      await transport.sendMail({
        envelope: { from: mailFrom.address, to: [address] },
        raw: await composer.compile().build(),
        signal: AbortSignal.any([stopped, AbortSignal.timeout(SENDING_MS_MAX)]),
      })
      return { outcome: 'sent' }
    } catch (error) {
      return refusal(error as NodemailerError)
    }
  }
}

/** A password is sent over TLS alone, except to this machine. */
function connectionTo({ protocol, hostname, port, username, password }: URL) {
  const secure = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && username !== '' && !isLoopbackHost(host),
    ...(username !== '' && { auth }),
    dnsTimeout: STEP_MS_MAX,
    connectionTimeout: STEP_MS_MAX,
    greetingTimeout: STEP_MS_MAX,
    socketTimeout: STEP_MS_MAX,
  }
}

/** Of what failed only what is known goes on, because its message may repeat what was sent. */
function refusal(error: NodemailerError): Attempt {
  const { code = error.name, originalCode = code, command = '', response, responseCode } = error
  if (response === undefined || responseCode === undefined) {
    return { outcome: 'failed', reason: `The mail server cannot be reached or ended the connection (${originalCode})` }
  }
  if (command.startsWith('AUTH')) {
    return { outcome: 'failed', reason: `The mail server refused the user name or the password (${responseCode})` }
  }
  const answer = response.replaceAll(/\p{Cc}+/gu, ' ').slice(0, REASON_LENGTH_MAX)
  const isForGood = responseCode >= 500 && RECIPIENT_STEPS.includes(command)
  return { outcome: isForGood ? 'bounced' : 'failed', reason: `The mail server answered: ${answer.toWellFormed()}` }
}
