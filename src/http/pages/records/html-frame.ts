import type { FastifyReply } from 'fastify'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { languageFor, textIn } from '../../html/request.ts'
import type { RecordRequest } from '../frame/pages.ts'
import { originsOf } from './images.ts'
import type { Service, Value } from './services.ts'

const HEIGHT = { min: 90, max: 360, line: 26, picture: 200 }
const LINE_LENGTH = 100

/** The values of a service that hold HTML and that a page shows as it looks. */
export function htmlValues({ values }: Pick<Service, 'values'>): Value[] {
  return values.filter(({ field }) => field.isHtml && field.access !== 'wo')
}

/** The height of a frame for this HTML, in pixels: about that of its text, and bounded. Only a script could measure it. */
export function frameHeight(html: string): number {
  const { length } = html.replaceAll(/<[^>]{0,2000}>/g, '')
  const breaks = html.match(/<(?:br|p|li|tr|h[1-6]|div)\b/gi)?.length ?? 0
  const pictures = html.match(/<img\b/gi)?.length ?? 0
  const wanted = (Math.ceil(length / LINE_LENGTH) + breaks + 1) * HEIGHT.line + pictures * HEIGHT.picture
  return Math.min(Math.max(wanted, HEIGHT.min), HEIGHT.max)
}

/**
 * Answers with the HTML of a field, or of the first that holds any, as a document of its own, for a frame. It is what somebody else wrote: the policy gives it a foreign
 * origin, no script, no form, no way out of its frame, and no request but for the pictures that it names.
 */
export async function htmlFrame(
  { caller, record, query }: RecordRequest,
  service: Service,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = textIn(query, 'field')
  const value = htmlValues(service).find(({ path }) => name === '' || path.join('.') === name)
  if (value === undefined) throw new StoreFailure('not-found', 'No field of this name holds HTML', { field: 'field' })
  const html = String(valueIn(record, value.path) ?? '')
  const { secureUrl } = caller.store
  const base = URL.parse(secureUrl)?.origin ?? ''
  const language = languageFor(reply.request)
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src ${['data:', ...originsOf(picturesIn(html), secureUrl)].join(' ')}`,
    `base-uri ${originsOf(['/'], secureUrl)[0] ?? "'none'"}`,
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox',
  ]
  return reply
    .headers({
      'content-security-policy': policy.join('; '),
      'referrer-policy': 'no-referrer',
      'x-dns-prefetch-control': 'off',
    })
    .type('text/html; charset=utf-8')
    .send(documentOf(html, { title: language.say(value.label), lang: language.tag, base }))
}

const picture = /<img\b((?:[^>"']|"[^"]{0,2000}"|'[^']{0,2000}'){0,500})>/gi
const source = /(?:^|[\s"'/])src\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i

function picturesIn(html: string): string[] {
  return [...html.matchAll(picture)].map(([, attributes = '']) => {
    const [, ...forms] = source.exec(attributes) ?? []
    return (forms.find((address) => address !== undefined) ?? '').replaceAll('&amp;', '&').trim()
  })
}

/** The text is taken to be in the language of who reads it. Links open nowhere, because the sandbox has no windows. Tags that act without being seen are none here. */
function documentOf(html: string, { title, lang, base }: { title: string; lang: string; base: string }): string {
  const seen = html.replaceAll(/<(?=(?:base|link|meta)\b)/gi, '<x-')
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<base href="${escaped(base)}/" target="_blank">
<style>
:root { color-scheme: light; background: #fff; color: #1b1f24; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0.75rem; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; }
</style>
</head>
<body>
${seen}
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
