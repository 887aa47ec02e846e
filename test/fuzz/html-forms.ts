import { unescaped } from '../support/person.ts'

/** A form of a page, with what a browser would send if nobody changed anything. */
export interface HtmlForm {
  readonly page: string
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** One for each button that names another address, or has a value of its own. */
export function formsIn(html: string, page: string): HtmlForm[] {
  const forms = html.match(/<form\b[\s\S]*?<\/form>/g) ?? []
  return forms.flatMap((form) => {
    const [tag = ''] = /^<form\b[^>]*>/.exec(form) ?? []
    if (attribute(tag, 'method').toLowerCase() !== 'post') return []
    const own = { page, action: attribute(tag, 'action') || page, fields: fieldsIn(form) }
    const buttons = [...form.matchAll(/<button\b[^>]*>/g)].map(([button]): HtmlForm => {
      const [name, action] = [attribute(button, 'name'), attribute(button, 'formaction')]
      const fields = name === '' ? own.fields : [...own.fields, [name, attribute(button, 'value')] as const]
      return { page, action: action || own.action, fields }
    })
    return buttons.length > 0 ? buttons : [own]
  })
}

export function linksIn(html: string): string[] {
  return [...html.matchAll(/<a\b[^>]*\shref="([^"#]*)/g)].map(([, href = '']) => unescaped(href))
}

function fieldsIn(form: string): [string, string][] {
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const isUnchecked = /checkbox|radio/.test(attribute(tag, 'type')) && !/\schecked\b/.test(tag)
    return isUnchecked ? [] : [[attribute(tag, 'name'), attribute(tag, 'value')]]
  })
  const areas = [...form.matchAll(/(<textarea\b[^>]*>)([\s\S]*?)<\/textarea>/g)].map(
    ([, tag = '', text = '']): [string, string] => [attribute(tag, 'name'), unescaped(text).replace(/^\n/, '')],
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
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}
