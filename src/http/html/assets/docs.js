// Comfort on the pages below /docs, which can all be read without it: the language of examples is remembered, and operations can be tried.

const storage = {
  get: (area, name) => {
    try {
      return area.getItem(name)
    } catch {
      return null
    }
  },
  set: (area, name, value) => {
    try {
      area.setItem(name, value)
    } catch {
      // Nothing may be kept in this browser.
    }
  },
}

// The choice of one group is that of all groups with the same choices, here and on other pages.
const groups = [...document.querySelectorAll('.samples')]
const radiosOf = (group) => [...group.querySelectorAll('fieldset input[type=radio]')]
const kindOf = (key) => `docs-${['json', 'xml', 'form', 'parts'].includes(key) ? 'format' : 'language'}`

function choose(key) {
  for (const group of groups) {
    const radio = radiosOf(group).find(({ value }) => value === key)
    if (radio) radio.checked = true
  }
}

for (const kind of ['docs-language', 'docs-format']) {
  const key = storage.get(localStorage, kind)
  if (key) choose(key)
}
for (const group of groups) {
  group.addEventListener('change', ({ target }) => {
    storage.set(localStorage, kindOf(target.value), target.value)
    const before = group.getBoundingClientRect().top
    choose(target.value)
    // Groups above may have become longer or shorter.
    window.scrollBy(0, group.getBoundingClientRect().top - before)
  })
}

// Not every browser opens what an address leads into.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  for (let at = target?.closest('details'); at; at = at.parentElement.closest('details')) at.open = true
  target?.scrollIntoView()
}
addEventListener('hashchange', reveal)
if (location.hash.length > 1) reveal()

const TEXT_LENGTH_MAX = 100_000

for (const part of document.querySelectorAll('[data-try]')) {
  part.hidden = false
  const form = part.querySelector('form')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button[type=submit]')
    button.setAttribute('aria-busy', 'true')
    button.disabled = true
    try {
      await send(part, form)
    } finally {
      button.removeAttribute('aria-busy')
      button.disabled = false
    }
  })
  prepareOwnKeys(part)
}

async function send(part, form) {
  const { method, path, credential } = part.dataset
  const filledIn = [...form.querySelectorAll('[data-in]')].filter(({ value }) => value !== '')
  const of = (place) => filledIn.filter((field) => field.dataset.in === place)
  let address = path
  for (const { dataset, value } of of('path')) address = address.replace(`{${dataset.name}}`, encodeURIComponent(value))
  const query = new URLSearchParams(of('query').map(({ dataset, value }) => [dataset.name, value]))
  const headers = new Headers(of('header').map(({ dataset, value }) => [dataset.name, value]))
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  const keys = Object.fromEntries(
    [...form.querySelectorAll('[data-key]')].map(({ dataset, value }) => [dataset.key, value.trim()]),
  )
  if (credential === 'keys') for (const [name, value] of Object.entries(keys)) if (value) headers.set(name, value)
  if (credential === 'operator') headers.set('authorization', `Bearer ${keys.Authorization}`)
  const typed = form.querySelector('textarea')
  let body = typed?.value || undefined
  if (typed && body) headers.set('content-type', typed.dataset.type)
  if (credential === 'client') {
    const pairs = [...new URLSearchParams(body?.trim() ?? ''), ...Object.entries(keys)]
    body = new URLSearchParams(pairs)
  }
  // Nobody but a developer's own routes needs the session.
  const credentials = credential === 'developer' ? 'same-origin' : 'omit'
  if (credential === 'developer' && method !== 'GET' && !body) headers.set('x-requested-with', 'docs')
  const target = query.size > 0 ? `${address}?${query}` : address
  const started = performance.now()
  const options = { method, headers, body, credentials, redirect: 'manual', cache: 'no-store' }
  const answer = await fetch(target, options).catch((error) => error)
  if (answer instanceof Error) return show(part, `No answer: ${answer.message}`, '', '')
  const text = await answer.text().catch(() => '')
  const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`)
  const milliseconds = Math.round(performance.now() - started)
  const status = answer.type === 'opaqueredirect' ? 'A redirect' : `${answer.status} ${answer.statusText}`
  show(part, `${status} after ${milliseconds} ms: ${method} ${target}`, lines.join('\n'), inLines(text))
}

/** JSON with a line for each member. */
function inLines(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function show(part, status, headers, body) {
  const answer = part.querySelector('.answer')
  const heading = document.createElement('p')
  heading.textContent = status
  const cut = body.length > TEXT_LENGTH_MAX ? `${body.slice(0, TEXT_LENGTH_MAX)}\n…` : body
  const blocks = [headers, cut].filter(Boolean).map((text) => {
    const pre = document.createElement('pre')
    pre.tabIndex = 0
    pre.textContent = text
    return pre
  })
  answer.replaceChildren(heading, ...blocks)
}

// The keys of the applications of whoever is signed in as a developer. They are in the fields alone; the browser keeps only which
// application and store were chosen, until the window is closed.
function prepareOwnKeys(part) {
  const button = part.querySelector('[data-own-keys]')
  if (!button) return
  const status = part.querySelector('.own-keys [role=status]')
  const choice = part.querySelector('.own-choice')
  const [ofApplication, ofStore] = choice.querySelectorAll('select')
  let applications = []
  let stores = []

  button.addEventListener('click', () => load())
  ofApplication.addEventListener('change', () => loadStores())
  ofStore.addEventListener('change', fill)
  if (storage.get(sessionStorage, 'docs-pair'))
    part.addEventListener('toggle', () => part.open && load(), { once: true })

  async function load() {
    status.textContent = 'Loading …'
    const answer = await ask('/developers/applications')
    if (!answer) return
    applications = answer
    if (applications.length === 0)
      return tell('You have no application yet. ', '/developers/applications/new', 'Register one')
    const [id] = JSON.parse(storage.get(sessionStorage, 'docs-pair') ?? '[]')
    list(ofApplication, applications, id)
    await loadStores()
  }

  async function loadStores() {
    const answer = await ask(`/developers/applications/${ofApplication.value}/stores?limit=100`)
    if (!answer) return
    stores = answer
    choice.hidden = false
    const [, id] = JSON.parse(storage.get(sessionStorage, 'docs-pair') ?? '[]')
    list(ofStore, stores, id)
    if (stores.length > 0) return fill()
    tell(
      'No store uses this application yet. ',
      `/developers/applications/${ofApplication.value}/stores`,
      'How it gets one',
    )
  }

  function fill() {
    const application = applications.find(({ Id }) => String(Id) === ofApplication.value)
    const store = stores.find(({ Id }) => String(Id) === ofStore.value)
    const keys = { SecureURL: store.SecureURL, PrivateKey: application.PrivateKey, Token: store.Token }
    for (const field of part.querySelectorAll('[data-key]')) field.value = keys[field.dataset.key]
    storage.set(sessionStorage, 'docs-pair', JSON.stringify([ofApplication.value, ofStore.value]))
    status.textContent = 'The keys are filled in.'
  }

  function list(select, records, chosen) {
    select.replaceChildren(...records.map(({ Id, Name }) => new Option(Name, Id, false, String(Id) === chosen)))
  }

  async function ask(address) {
    const headers = { accept: 'application/json' }
    const answer = await fetch(address, { headers, cache: 'no-store' }).catch(() => null)
    if (answer?.ok) return answer.json()
    const next = `?next=${encodeURIComponent(location.pathname)}`
    if (answer?.status === 401) tell('You are not signed in. ', `/developers/sign-in${next}`, 'Sign in as a developer')
    else if (answer?.status === 403)
      tell('Keys are shown after your password. ', `/developers/prove${next}`, 'Show who you are')
    else status.textContent = 'The server did not answer. Try again in a moment.'
    return null
  }

  function tell(text, href, words) {
    const link = document.createElement('a')
    link.href = href
    link.textContent = words
    status.replaceChildren(text, link)
  }
}
