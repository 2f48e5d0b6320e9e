/** Whether some of an element's own text is not visible: cut with an ellipsis, on one line or after some. */
function isCut(e: HTMLElement): boolean {
  const { textOverflow, overflowX, webkitLineClamp } = getComputedStyle(e)
  if (textOverflow === 'ellipsis' && overflowX !== 'visible') return e.scrollWidth > e.clientWidth
  return webkitLineClamp !== 'none' && webkitLineClamp !== '' && e.scrollHeight > e.clientHeight + 1
}

/** What has no tooltip of its own: neither a title nor a description around it. */
const isNamed = (e: HTMLElement) => e.closest('[title]:not([data-cut])') !== null

/** Gives cut text the whole text as its tooltip, and takes it away when the text fits. */
function show({ target }: Event): void {
  if (!(target instanceof Element)) return
  const control = target.closest<HTMLElement>('a, button, [tabindex]')
  for (const e of [target, ...(control?.querySelectorAll('*') ?? [])]) {
    if (!(e instanceof HTMLElement)) continue
    if (e.dataset.cut !== undefined) {
      e.removeAttribute('title')
      delete e.dataset.cut
    }
    if (!isCut(e) || isNamed(e)) continue
    e.title = e.innerText.trim()
    e.dataset.cut = ''
  }
}

/** Text that is cut can be read as a tooltip, everywhere. */
export function watchCutText(): () => void {
  addEventListener('pointerover', show, { passive: true })
  return () => removeEventListener('pointerover', show)
}
