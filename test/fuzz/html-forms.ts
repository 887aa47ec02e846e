/** A form of a page, with what a browser would send if nobody changed anything. */
export interface HtmlForm {
  readonly page: string
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export function formsIn(html: string, page: string): HtmlForm[] {
  const forms = html.match(/<form\b[\s\S]*?<\/form>/g) ?? []
  return forms.flatMap((form) => {
    const [tag = ''] = /^<form\b[^>]*>/.exec(form) ?? []
    if (attribute(tag, 'method').toLowerCase() !== 'post') return []
    const actions = new Set([attribute(tag, 'action') || page, ...buttonActions(form)])
    return [...actions].map((action) => ({ page, action, fields: fieldsIn(form) }))
  })
}

export function linksIn(html: string): string[] {
  return [...html.matchAll(/<a\b[^>]*\shref="([^"#]*)/g)].map(([, href = '']) => plainText(href))
}

function buttonActions(form: string): string[] {
  return [...form.matchAll(/\sformaction="([^"]*)"/g)].map(([, action = '']) => plainText(action))
}

function fieldsIn(form: string): [string, string][] {
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const isUnchecked = /checkbox|radio/.test(attribute(tag, 'type')) && !/\schecked\b/.test(tag)
    return isUnchecked ? [] : [[attribute(tag, 'name'), attribute(tag, 'value')]]
  })
  const areas = [...form.matchAll(/(<textarea\b[^>]*>)([\s\S]*?)<\/textarea>/g)].map(
    ([, tag = '', text = '']): [string, string] => [attribute(tag, 'name'), plainText(text)],
  )
  const selects = [...form.matchAll(/(<select\b[^>]*>)([\s\S]*?)<\/select>/g)].map(
    ([, tag = '', options = '']): [string, string] => {
      const [chosen = ''] = /<option\b[^>]*\sselected\b[^>]*>/.exec(options) ?? /<option\b[^>]*>/.exec(options) ?? []
      return [attribute(tag, 'name'), attribute(chosen, 'value')]
    },
  )
  return [...inputs, ...areas, ...selects].filter(([name]) => name !== '')
}

function attribute(tag: string, name: string): string {
  return plainText(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

function plainText(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
