// The title of the page, in the language of this browser, before the programs of the console are there. See first-frame.ts.
;(() => {
  const base = document.querySelector('meta[name="torana-base"]').content
  const path = location.pathname.slice(base.length)
  // Nobody is signed in on these pages, and they have no navigation.
  if (/^(?:sign-in|welcome|invite)(?:\/|$)/.test(path)) {
    document.querySelector('#app').replaceChildren()
    return
  }
  const isChinese = document.documentElement.lang === 'zh'
  for (const link of document.querySelectorAll('#app [data-path]')) {
    if (isChinese) link.textContent = link.dataset.zh
    const own = link.dataset.path
    if (path !== own && (own === '' || !path.startsWith(`${own}/`))) continue
    link.setAttribute('aria-current', 'page')
    document.querySelector('#app h1').textContent = link.textContent
    document.title = `${link.textContent} · Torana`
  }
})()
