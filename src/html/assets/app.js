// Comfort on top of pages that work without it: copying, and opening an application's set-up beside the page.

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  const label = button.textContent
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
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
  const text = document.createElement('p')
  text.textContent = Message
  failure.append(text)
  document.querySelector('main').prepend(failure)
  failure.scrollIntoView()
}

// A form is sent once, however often its button is pressed.
for (const form of document.querySelectorAll('form[method=post]:not([data-popup])')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    form.dataset.sent = 'yes'
  })
}
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})
