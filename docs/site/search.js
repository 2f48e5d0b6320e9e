// Searches the pages in the browser: all words have to begin a word of a page. Matches in
// titles come first.
'use strict'
{
  const base = document.currentScript.dataset.base
  const field = document.getElementById('search')
  const results = document.getElementById('results')
  const maxResults = 10
  let pages

  const fold = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('đ', 'd')

  const load = async () => {
    const list = await (await fetch(`${base}search.json`)).json()
    return list.map((p) => ({ ...p, words: ` ${fold(p.text).replace(/[^\p{L}\p{N}_]+/gu, ' ')}`, name: ` ${fold(p.title)}` }))
  }

  const find = (query) => {
    const words = fold(query).split(/[^\p{L}\p{N}_]+/u).filter(Boolean)
    if (words.length === 0) return []
    const scored = []
    for (const page of pages) {
      let score = 0
      for (const word of words) {
        const count = page.words.split(` ${word}`).length - 1
        const inTitle = page.name.includes(` ${word}`)
        if (count === 0 && !inTitle) {
          score = 0
          break
        }
        score += Math.log2(1 + count) + (inTitle ? 10 : 0)
      }
      if (score > 0) scored.push({ page, score })
    }
    return scored.sort((a, b) => b.score - a.score).slice(0, maxResults).map((s) => s.page)
  }

  const excerpt = (page, query) => {
    const at = Math.max(0, fold(page.text).indexOf(fold(query).split(/\s+/)[0]))
    const from = Math.max(0, at - 40)
    return `${from > 0 ? '…' : ''}${page.text.slice(from, from + 160)}…`
  }

  const show = (found, query) => {
    results.replaceChildren()
    results.hidden = query.trim() === ''
    if (results.hidden) return
    if (found.length === 0) {
      const none = document.createElement('p')
      none.textContent = 'No pages found.'
      results.append(none)
      return
    }
    const list = document.createElement('ul')
    for (const page of found) {
      const item = document.createElement('li')
      const link = document.createElement('a')
      link.href = base + page.path
      link.textContent = page.title
      const text = document.createElement('p')
      text.textContent = excerpt(page, query)
      item.append(link, text)
      list.append(item)
    }
    results.append(list)
  }

  field.form.addEventListener('submit', (e) => {
    e.preventDefault()
    results.querySelector('a')?.click()
  })
  field.addEventListener('input', async () => {
    pages ??= await load()
    show(find(field.value), field.value)
  })
}
