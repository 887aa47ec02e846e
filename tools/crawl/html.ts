/** A field of a form. `options`: what a choice can be, in the order of the page. */
export interface Field {
  readonly name: string
  readonly kind: string
  readonly value: string
  /** Whether a browser sends it as it stands. */
  readonly isSent: boolean
  readonly options: readonly string[]
}

/** A form with one of its buttons, as a browser would send it. */
export interface Form {
  readonly page: string
  readonly method: string
  readonly action: string
  readonly isUpload: boolean
  readonly fields: readonly Field[]
}

/** The forms of a page: one for each button that has a value or an address of its own. */
export function formsIn(html: string, page: string): Form[] {
  const ids = [
    ...html.matchAll(
      /<(?:input|select|textarea|button)\b[^>]*\sform="([^"]*)"[^>]*>(?:[\s\S]*?<\/(?:select|textarea)>)?/g,
    ),
  ]
  return (html.match(/<form\b[\s\S]*?<\/form>/g) ?? []).flatMap((text) => {
    const tag = /^<form\b[^>]*>/.exec(text)?.[0] ?? ''
    const id = attribute(tag, 'id')
    const whole =
      text +
      ids.flatMap(([element, of]) => (of === id && id !== '' && !text.includes(element) ? [element] : [])).join('')
    const form: Form = {
      page,
      method: attribute(tag, 'method').toUpperCase() || 'GET',
      action: withoutFragment(attribute(tag, 'action') || page),
      isUpload: attribute(tag, 'enctype').startsWith('multipart'),
      fields: fieldsIn(whole),
    }
    return withButtons(form, whole)
  })
}

function withButtons(form: Form, text: string): Form[] {
  const buttons = [...text.matchAll(/<button\b[^>]*>/g)].filter(([tag]) => !/\stype="(button|reset)"/.test(tag))
  const variants = buttons.map(([tag]): Form => {
    const name = attribute(tag, 'name')
    const pressed = { name, kind: 'button', value: attribute(tag, 'value'), isSent: true, options: [] }
    return {
      ...form,
      action: withoutFragment(attribute(tag, 'formaction') || form.action),
      fields: name === '' ? form.fields : [...form.fields, pressed],
    }
  })
  return variants.length > 0 ? variants : [form]
}

function fieldsIn(form: string): Field[] {
  const element = /<(input)\b[^>]*>|<(textarea|select)\b[^>]*>[\s\S]*?<\/\2>/g
  return [...form.matchAll(element)].flatMap(([text, isInput]) => {
    const tag = /^<[^>]*>/.exec(text)?.[0] ?? ''
    const name = attribute(tag, 'name')
    if (name === '' || /\sdisabled\b/.test(tag)) return []
    const kind = isInput ? attribute(tag, 'type') || 'text' : text.startsWith('<select') ? 'select' : 'textarea'
    if (kind === 'select') return [choice(name, text)]
    const value =
      kind === 'textarea' ? plainText(text.slice(tag.length, -11)).replace(/^\r?\n/, '') : attribute(tag, 'value')
    const isSent = !/^(checkbox|radio)$/.test(kind) || /\schecked\b/.test(tag)
    return [{ name, kind, value: value || (isSent ? '' : 'on'), isSent, options: [] }]
  })
}

function choice(name: string, text: string): Field {
  const tags = text.match(/<option\b[^>]*>/g) ?? []
  const chosen = tags.find((tag) => /\sselected\b/.test(tag)) ?? tags[0] ?? ''
  const options = tags.map((tag) => attribute(tag, 'value'))
  return { name, kind: 'select', value: attribute(chosen, 'value'), isSent: tags.length > 0, options }
}

/** The server's own addresses that a page leads to, and where its fields look records up, in order of appearance. */
export function linksIn(html: string, page: string): string[] {
  const found = html.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]*)"|\sdata-search="([^"]*)"/g)
  const links = [...found].map(([, link, search]) =>
    link === undefined ? `${plainText(search ?? '')}?q=a` : plainText(link),
  )
  const local = links.map((link) => withoutFragment(link.startsWith('?') ? page.replace(/\?.*/, '') + link : link))
  return [...new Set(local.filter((link) => /^\/(?!\/)/.test(link)))]
}

/** The page with one element on each line, which shows in a diff what changed; a backslash stands where the page has no end of a line. */
export function linesOf(html: string): string {
  return html.replaceAll('><', '>\\\n<')
}

function attribute(tag: string, name: string): string {
  return plainText(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

function withoutFragment(address: string): string {
  return address.replace(/#.*$/, '')
}

function plainText(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
