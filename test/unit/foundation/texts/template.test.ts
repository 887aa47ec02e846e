import { describe, expect, it } from 'vitest'
import { messagesOf, translateTemplate } from '../../../../src/foundation/texts/template.ts'

const messages = (source: string) => messagesOf(source).map(({ message }) => message)
const translate = (source: string, catalogue: Record<string, string>) =>
  translateTemplate(source, (message) => catalogue[message] ?? null)

describe('the messages of a template', () => {
  it('are the texts of elements, with the elements of a line and what is printed in them', () => {
    const source = `<h1>Orders</h1>
      <p>Paid by <strong><%= it.by %></strong>
        on <%= it.date %>.</p>`
    expect(messages(source)).toEqual(['Orders', 'Paid by <strong>{1}</strong> on {2}.'])
  })

  it('end at blocks, conditions and what is included', () => {
    const source = `<li>One <% if (it.more) { %>two <b>three</b><% } else { %>four<% } %><br>five<%~ include('x') %>six</li>`
    expect(messages(source)).toEqual(['One', 'two <b>three</b>', 'four', 'five', 'six'])
  })

  it('are those of each element, where nothing is said between them', () => {
    expect(messages('<p><a href="/a">One</a> · <a href="/b"><%= it.two %> and more</a></p>')).toEqual([
      'One',
      '{1} and more',
    ])
  })

  it('are read attributes too, also of elements in a sentence', () => {
    const source = `<p title="All <%= it.all %>">See <a href="<%= it.to %>" aria-label="The list">it</a></p><input name="word" placeholder="Search">`
    expect(messages(source)).toEqual(['All {1}', 'See <a>it</a>', 'The list', 'Search'])
  })

  it('are no code, no script, nothing that is only printed, and no signs', () => {
    const source = `<% const text = 'Word' %><p><code>npm start</code></p><script>go()</script><td><%= it.x %> · <%= it.y %></td><p>&nbsp;–</p>`
    expect(messages(source)).toEqual([])
    expect(messages('<p>Run <code>npm start</code> here</p>')).toEqual(['Run {1} here'])
  })

  it('leave tags whose other half is elsewhere', () => {
    expect(messages('<strong>A<% if (x) { %>b</strong> c<% } %>')).toEqual(['A', 'b', 'c'])
  })

  it('refuses an attribute with a condition in it', () => {
    expect(() => messages('<a title="A<% if (x) { %> b<% } %>">c</a>')).toThrow('as one text')
  })
})

describe('a translated template', () => {
  it('has the words of the catalogue in its order, with the source of each part', () => {
    const source = `<p class="<%= it.c %>">  Paid by <strong class="x"><%= it.by %></strong> on <%~ it.date %>. </p>`
    expect(
      translate(source, { 'Paid by <strong>{1}</strong> on {2}.': 'Am {2} von <strong>{1}</strong> bezahlt.' }),
    ).toBe(`<p class="<%= it.c %>">  Am <%~ it.date %> von <strong class="x"><%= it.by %></strong> bezahlt. </p>`)
  })

  it('tells elements of one name apart', () => {
    const source = '<p>A <a href="/1">one</a> or <a href="/2">two</a></p>'
    expect(translate(source, { 'A <a>one</a> or <a2>two</a2>': '<a2>Zwei</a2> oder <a>eins</a>' })).toBe(
      '<p><a href="/2">Zwei</a> oder <a href="/1">eins</a></p>',
    )
  })

  it('has the attributes of elements in a sentence, said or not', () => {
    const source = '<p>See <a aria-label="The list" href="/">it</a></p>'
    expect(translate(source, { 'The list': 'Die Liste' })).toContain('See <a aria-label="Die Liste" href="/">it</a>')
    expect(translate(source, { 'See <a>it</a>': '<a>Dies</a> ansehen', 'The list': 'Die Liste' })).toBe(
      '<p><a aria-label="Die Liste" href="/">Dies</a> ansehen</p>',
    )
  })

  it('stays as it is where nobody has said anything', () => {
    const source = '<p title="A">B <% if (it.x) { %>\n<b>C</b><% } %></p>\n'
    expect(translate(source, {})).toBe(source)
  })
})
