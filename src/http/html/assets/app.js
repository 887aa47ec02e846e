// Comfort on top of pages that work without it: copying, opening an application's set-up beside the page, looking up the
// products of a new order in place, sending pictures and putting them in order, offering records while somebody types, following
// work in progress, printing, choosing all of a page, counting what is chosen, unfolding, closing menus, asking before what was
// typed is lost, and passkeys, which only a script can ask for. What it says stands in attributes of the page, in the reader's language.

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  const label = button.textContent
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = button.dataset.copied
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}

// A form with data-popup answers programs with {"PostBackURL"?, "Location"}: the first opens in a popup, the page goes on to the second.
for (const form of document.querySelectorAll('form[data-popup]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button[type=submit]')
    button.setAttribute('aria-busy', 'true')
    button.disabled = true
    const answer = await fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => null)
    const said = await answer?.json().catch(() => null)
    // Without an answer, the browser's own page tells why; where something else is asked by now (409), the page shows that.
    if (!said || answer.status === 409) return form.submit()
    if (!answer.ok) {
      showFailure(said)
      button.removeAttribute('aria-busy')
      button.disabled = false
      return
    }
    const { PostBackURL, Location } = said
    if (PostBackURL) window.open(PostBackURL, '_blank', 'popup,noopener,noreferrer,width=640,height=720')
    window.location.assign(Location)
  })
}

function showFailure([{ Message }]) {
  document.querySelector('main > .failure')?.remove()
  const failure = document.createElement('div')
  failure.className = 'failure'
  failure.setAttribute('role', 'alert')
  failure.tabIndex = -1
  const text = document.createElement('p')
  text.textContent = Message
  failure.append(text)
  document.querySelector('main').prepend(failure)
  failure.focus()
}

// A refused form begins with what is wrong. Browsers that put the focus of a page into fields alone get it there by this.
document.querySelector('main > .failure[tabindex]')?.focus()

// The menus of the bar close by Escape, which leads back to them, and by a click beside them.
const menus = document.querySelectorAll('details.menu')
for (const menu of menus) {
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return
    menu.open = false
    menu.querySelector('summary').focus()
    // Only the menu, not what it lies in.
    event.preventDefault()
    event.stopPropagation()
  })
}
document.addEventListener('click', ({ target }) => {
  for (const menu of menus) if (!menu.contains(target)) menu.open = false
})

// The buttons with an address of their own in a form with data-refresh renew the part of the page that it names, and so does a
// change inside of data-looked-up, as the form's button with data-lookup does. What is typed meanwhile stays, and so does the focus.
for (const form of document.querySelectorAll('form[data-refresh]')) {
  let isRunning = false
  let waiting = null
  let typing
  let settled = contents()

  form.addEventListener('click', (event) => {
    const button = event.target.closest('button[formaction]')
    const summary = event.target.closest('summary')
    if (summary) summary.parentElement.dataset.toggled = 'yes'
    if (!button) return
    event.preventDefault()
    refresh(button)
  })
  form.addEventListener('change', ({ target, detail }) => {
    if (target.closest('[data-looked-up]')) lookUp(detail === 'chosen' ? target.dataset.next : undefined)
  })
  // Amounts follow numbers while they are typed.
  form.addEventListener('input', ({ target }) => {
    clearTimeout(typing)
    if (target.inputMode === 'decimal' && target.closest('#order')) typing = setTimeout(lookUp, 400)
  })
  // Enter leads on from one field to the next that a line needs; in one with words to look up it looks them up.
  form.addEventListener('keydown', (event) => {
    const next = document.getElementById(event.target.dataset.enter)
    if (event.key !== 'Enter' || event.defaultPrevented || !next) return
    if (event.target.dataset.search && event.target.value.trim() !== '') return
    event.preventDefault()
    if (next.matches('button')) next.click()
    else next.focus()
  })

  function contents() {
    return new URLSearchParams(new FormData(form)).toString()
  }

  function lookUp(focusOn) {
    clearTimeout(typing)
    if (isRunning || contents() !== settled) refresh(form.querySelector('[data-lookup]'), focusOn)
  }

  // One at a time, so that the answers come in the order of what was typed.
  async function refresh(button, focusOn = button.dataset.then) {
    if (isRunning) {
      // What somebody presses comes before what a change looks up.
      if (!waiting || 'lookup' in waiting.button.dataset) waiting = { button, focusOn: focusOn ?? waiting?.focusOn }
      return
    }
    isRunning = true
    const sent = new FormData(form, button)
    button.setAttribute('aria-busy', 'true')
    try {
      const answer = await fetch(button.formAction, {
        method: 'POST',
        headers: { accept: 'text/html' },
        body: new URLSearchParams(sent),
      })
      if (!answer.ok) throw new Error(answer.statusText)
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      settled = new URLSearchParams(sent).toString()
      renew(page.getElementById(form.dataset.refresh), sent, focusOn)
    } catch {
      // The browser's own page tells why.
      return form.requestSubmit(button.isConnected ? button : form.querySelector('[data-lookup]'))
    } finally {
      button.removeAttribute('aria-busy')
      isRunning = false
    }
    const next = waiting
    waiting = null
    if (next && !('lookup' in next.button.dataset)) refresh(sameButton(next.button), next.focusOn)
    else if (next) lookUp(next.focusOn)
  }

  // A button that was pressed may have been renewed since.
  function sameButton({ formAction, name, value }) {
    const buttons = [...form.querySelectorAll('button[formaction]')]
    const isSame = (button) => button.formAction === formAction && button.name === name && button.value === value
    return buttons.find(isSame) ?? form.querySelector('[data-lookup]')
  }

  function renew(part, sent, then) {
    const former = document.getElementById(form.dataset.refresh)
    for (const field of former.querySelectorAll('input:not([type=hidden]), select, textarea')) {
      const isTick = field.type === 'checkbox'
      const isTyped = isTick
        ? field.checked !== sent.getAll(field.name).includes(field.value)
        : field.value !== sent.get(field.name)
      const next = [...part.querySelectorAll('input:not([type=hidden]), select, textarea')].find(
        ({ name, value }) => name === field.name && (!isTick || value === field.value),
      )
      if (!next || !isTyped) continue
      if (isTick) next.checked = field.checked
      else next.value = field.value
    }
    for (const { id, open } of former.querySelectorAll('details[data-toggled]')) {
      const next = part.querySelector(`details#${id}`)
      if (next) Object.assign(next, { open }).dataset.toggled = 'yes'
    }
    const focused = document.activeElement
    const isTypedIn = former.contains(focused) && focused.id !== ''
    const counterpart = isTypedIn && part.querySelector(`${focused.localName}#${CSS.escape(focused.id)}`)
    const isTypedSince = contents() !== settled
    const { address } = part.dataset
    if (counterpart && !then) renewAround(former, part, focused, counterpart)
    else {
      former.replaceWith(part)
      const next = document.getElementById(then ?? focused.id)
      next?.focus()
      if (then) next?.select?.()
    }
    if (!isTypedSince) settled = contents()
    if (address) history.replaceState(null, '', address)
  }
}

// Renews everything but the field with the focus and what it stands in, so that whoever is typing in it goes on.
function renewAround(former, part, focused, counterpart) {
  let [old, fresh] = [former, part]
  while (old !== focused && fresh !== counterpart) {
    for (const { name, value } of fresh.attributes) old.setAttribute(name, value)
    const inner = [...old.children].find((child) => child.contains(focused))
    const next = [...fresh.children].find((child) => child.contains(counterpart))
    const nodes = [...fresh.childNodes]
    const at = nodes.indexOf(next)
    for (const node of [...old.childNodes]) if (node !== inner) node.remove()
    inner.before(...nodes.slice(0, at))
    inner.after(...nodes.slice(at + 1))
    old = inner
    fresh = next
  }
  for (const { name, value } of counterpart.attributes) if (name !== 'value') focused.setAttribute(name, value)
  if (!focused.matches('button') && focused.value !== counterpart.value) focused.value = counterpart.value
}

// A combobox: below a field stands what fits while somebody types, to be chosen by arrows and Enter, or by a click.
function combobox(field, { address, least, optionOf, choose }) {
  const list = document.createElement('ul')
  let request = new AbortController()
  let wait
  let found = []
  let at = -1

  list.id = `suggested-${++combobox.count}`
  list.className = 'suggested'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', document.querySelector('[data-fits]')?.dataset.fits ?? '')
  field.setAttribute('role', 'combobox')
  field.setAttribute('aria-autocomplete', 'list')
  show([])

  field.addEventListener('input', () => {
    clearTimeout(wait)
    request.abort()
    const text = field.value.trim()
    if (text.length < least) return show([])
    request = new AbortController()
    const { signal } = request
    wait = setTimeout(async () => {
      const url = `${address}?${new URLSearchParams({ q: text })}`
      const answer = await fetch(url, { headers: { accept: 'application/json' }, signal }).catch(() => null)
      const fits = answer?.ok ? await answer.json().catch(() => []) : []
      if (!signal.aborted && field === document.activeElement) show(fits)
    }, 150)
  })
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && found.length > 0) {
      event.preventDefault()
      show([])
    } else if (event.key === 'Enter') {
      if (at >= 0) {
        event.preventDefault()
        take(at)
      }
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && found.length > 0) {
      event.preventDefault()
      list.children[at]?.setAttribute('aria-selected', 'false')
      at = (at + (event.key === 'ArrowDown' ? 1 : at < 0 ? 0 : -1) + found.length) % found.length
      list.children[at].setAttribute('aria-selected', 'true')
      list.children[at].scrollIntoView({ block: 'nearest' })
      field.setAttribute('aria-activedescendant', list.children[at].id)
    }
  })
  field.addEventListener('blur', () => {
    clearTimeout(wait)
    request.abort()
    show([])
  })
  // The field keeps the focus.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', ({ target }) => {
    const option = target.closest('[role=option]')
    if (option) take([...list.children].indexOf(option))
  })

  function take(index) {
    const one = found[index]
    const option = list.children[index]
    clearTimeout(wait)
    request.abort()
    show([])
    choose(one, option)
  }

  function show(fits) {
    found = fits
    at = -1
    field.removeAttribute('aria-activedescendant')
    field.setAttribute('aria-expanded', String(found.length > 0))
    list.replaceChildren(
      ...found.map((one, index) => {
        const option = document.createElement('li')
        option.id = `${list.id}-${index}`
        option.setAttribute('role', 'option')
        option.setAttribute('aria-selected', 'false')
        option.append(...optionOf(one))
        return option
      }),
    )
    list.hidden = found.length === 0
    // What stands around a field may have been renewed.
    if (found.length > 0 || !list.isConnected) field.after(list)
    field.setAttribute('aria-controls', list.id)
  }
}
combobox.count = 0

function withMore(text, more) {
  const details = document.createElement('span')
  details.className = 'more'
  details.textContent = more
  return [text, details]
}

// The search in the head of a page: / leads into it, and an option is a link.
for (const field of document.querySelectorAll('input[data-suggest]')) {
  combobox(field, {
    address: field.dataset.suggest,
    least: 2,
    optionOf: ({ Kind, Address, Title, Details }) => {
      const link = document.createElement('a')
      link.href = Address
      link.tabIndex = -1
      link.append(...withMore(Title, [Kind, Details].filter(Boolean).join(' · ')))
      return [link]
    },
    choose: (_one, option) => option.firstElementChild.click(),
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.activeElement?.matches('input, select, textarea, [contenteditable]')) return
    event.preventDefault()
    field.focus()
  })
}

// A field with data-search takes the record that is chosen of those that fit, and says its name.
const searching = new WeakSet()

document.addEventListener('focusin', ({ target: field }) => {
  if (!(field instanceof HTMLInputElement) || !field.dataset.search || searching.has(field)) return
  searching.add(field)
  combobox(field, {
    address: field.dataset.search,
    least: 1,
    optionOf: ({ ID, Name }) => withMore(Name, ID),
    choose: ({ ID, Name }) => {
      field.value = ID
      nameOf(field).textContent = Name
      field.dispatchEvent(new CustomEvent('change', { bubbles: true, detail: 'chosen' }))
    },
  })
  field.addEventListener('input', () => {
    nameOf(field).textContent = ''
  })
})
// The page may have begun in such a field.
if (document.activeElement?.dataset.search)
  document.activeElement.dispatchEvent(new Event('focusin', { bubbles: true }))

function nameOf({ id }) {
  return document.getElementById(`${id}-name`)
}

// A part with data-follow shows work in progress. It is renewed after so many milliseconds, until it has no data-follow any more.
function follow() {
  const part = document.querySelector('[data-follow]')
  if (part) setTimeout(() => renewPart(part), Number(part.dataset.follow))
}

async function renewPart(part) {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null)
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
  const next = page?.getElementById(part.id)
  // Signed out, or not reached: the link on the page still leads on.
  if (!next) return
  // Whoever is about to press something keeps the focus until the work is done.
  const [bar, text] = ['progress', 'label'].map((name) => [part.querySelector(name), next.querySelector(name)])
  if ('follow' in next.dataset && bar[0] && bar[1]) {
    bar[0].value = bar[1].value
    text[0].textContent = text[1].textContent
  } else part.replaceWith(next)
  follow()
}

follow()

// A form with data-drop sends the files that are chosen, or dropped on it, one after the other, and shows how far it is; of data-drop="one", the first.
for (const form of document.querySelectorAll('form[data-drop]')) {
  const input = form.querySelector('input[type=file]')
  input.multiple = form.dataset.drop === 'many'
  form.addEventListener('dragover', (event) => {
    event.preventDefault()
    form.classList.add('over')
  })
  form.addEventListener('dragleave', () => form.classList.remove('over'))
  form.addEventListener('drop', (event) => {
    event.preventDefault()
    form.classList.remove('over')
    sendFiles(form, [...event.dataTransfer.files].slice(0, input.multiple ? undefined : 1))
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    sendFiles(form, [...input.files])
  })
}

async function sendFiles(form, files) {
  if (files.length === 0) return
  const { progress: text, done } = form.dataset
  const bar = Object.assign(document.createElement('progress'), { max: files.length, value: 0 })
  const label = Object.assign(document.createElement('p'), { role: 'status' })
  form.replaceChildren(...form.querySelectorAll('input[name=_csrf]'), label, bar)
  for (const [at, file] of files.entries()) {
    label.textContent = text.replace('{done}', at).replace('{all}', files.length)
    bar.value = at
    const body = new FormData(form)
    body.append('file', file)
    const answer = await fetch(form.action, { method: 'POST', headers: { accept: 'application/json' }, body }).catch(
      () => null,
    )
    if (answer?.ok) continue
    const said = await answer?.json().catch(() => null)
    // Without an answer, the page shows what has arrived, or the browser's own page tells why.
    if (!said) return window.location.reload()
    showFailure([{ Message: `${file.name}: ${said[0].Message}` }])
    return form.remove()
  }
  window.location.assign(done)
}

// Rows of a list with data-sorted are put into another order by dragging. Its buttons do the same without.
for (const list of document.querySelectorAll('[data-sorted]')) {
  let dragged
  for (const row of list.children) {
    row.draggable = true
    row.addEventListener('dragstart', ({ target }) => {
      dragged = target === row ? row : undefined
    })
    row.addEventListener('dragover', (event) => {
      if (!dragged || dragged === row) return
      event.preventDefault()
      const { top, height } = row.getBoundingClientRect()
      row[event.clientY < top + height / 2 ? 'before' : 'after'](dragged)
    })
    row.addEventListener('drop', (event) => event.preventDefault())
  }
}

for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => window.print())
}

// One box for all boxes of a form that have a name.
for (const part of document.querySelectorAll('[data-choose]')) {
  part.hidden = false
  if (part.previousElementSibling) part.previousElementSibling.hidden = true
  const all = part.querySelector('input')
  const boxes = [...part.closest('form').querySelectorAll(`input[type=checkbox][name=${part.dataset.choose}]`)]
  const show = () => {
    const count = boxes.filter(({ checked }) => checked).length
    all.checked = count === boxes.length
    all.indeterminate = count > 0 && !all.checked
  }
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked
  })
  for (const box of boxes) box.addEventListener('change', show)
  window.addEventListener('pageshow', show)
}

// How many rows are ticked, beside what can be done with them. Of everything that matches, the box itself says how many.
for (const part of document.querySelectorAll('[data-counted]')) {
  const form = part.closest('form')
  const text = part.textContent
  const show = () => {
    const count = form.querySelectorAll(`input[type=checkbox][name=${part.dataset.counted}]:checked`).length
    part.textContent = text.replace('{count}', count.toLocaleString(document.documentElement.lang))
    part.hidden = count === 0 || form.querySelector('input[name=all]:checked') !== null
    part.previousElementSibling.hidden = !part.hidden
  }
  form.addEventListener('change', show)
  window.addEventListener('pageshow', show)
}

// A link to a folded part of a page opens it.
function unfold() {
  const fold = document.getElementById(location.hash.slice(1))?.closest('details')
  if (fold) fold.open = true
}
window.addEventListener('hashchange', unfold)
unfold()

// A form with data-passkey creates a passkey or gets one, and sends what the browser made of it. It is shown only where that works.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.hidden = !window.PublicKeyCredential?.parseCreationOptionsFromJSON
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button[type=submit]')
    button.setAttribute('aria-busy', 'true')
    button.disabled = true
    try {
      form.elements.Credential.value = JSON.stringify(await passkeyOf(form))
      form.submit()
    } catch (error) {
      // What the browser says itself is for programmers.
      const { known, unused } = form.dataset
      const Message = error.cause ?? (error.name === 'InvalidStateError' ? known : unused)
      showFailure([{ Message }])
      button.removeAttribute('aria-busy')
      button.disabled = false
    }
  })
}

async function passkeyOf(form) {
  const answer = await fetch(`${form.action}/options`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ _csrf: form.elements._csrf.value }),
  })
  const said = await answer.json()
  if (!answer.ok) throw new Error('refused', { cause: said[0].Message })
  if (form.dataset.passkey === 'get') {
    return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(said) })
  }
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(said) })
}

// A form is sent once, however often its button is pressed. One with data-safe changes nothing, and may lead to a file.
for (const form of document.querySelectorAll('form[method=post]:not([data-popup], [data-safe], [data-passkey])')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    form.dataset.sent = 'yes'
  })
}
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})

// What was changed in a form of the administration and not sent is not lost by a click on a link: the browser asks. A form that was
// refused came back with what is not stored.
const edited = new Set()
if (location.pathname.startsWith('/admin/')) {
  const isRefused = document.querySelector('main > .failure') !== null
  for (const form of document.querySelectorAll('main form[method=post]:not([data-safe])')) {
    if (isRefused) edited.add(form)
    for (const kind of ['input', 'change']) form.addEventListener(kind, () => edited.add(form))
  }
  document.addEventListener('submit', () => edited.clear())
  for (const link of document.querySelectorAll('a[data-discard]')) link.addEventListener('click', () => edited.clear())
  window.addEventListener('beforeunload', (event) => {
    if (edited.size > 0) event.preventDefault()
  })
}
