import { Modal as Base, type ModalProps } from '@mantine/core'
import { useEffect, useMemo } from 'react'

/** A dialog that gives the focus back to what opened it, also if it is mounted open or was opened from a menu. */
export function Modal(props: ModalProps) {
  useFocusBack(props.opened)
  return <Base {...props} returnFocus={false} />
}

/**
 * After a dialog closes, focuses what had the focus before it opened, or else the page's content, so that keyboard users
 * continue where they were. Mantine's own return of the focus covers neither dialogs that are mounted open nor menu items,
 * which are gone by then.
 */
function useFocusBack(opened: boolean) {
  const opener = useMemo(() => (opened ? openerOf(document.activeElement) : null), [opened])
  useEffect(() => {
    if (!opened) return
    return () => {
      // The dialog's content may still be fading out, with the focus in it.
      const inside = document.activeElement?.closest('[role=dialog]') ?? null
      window.setTimeout(() => {
        const now = document.activeElement
        if (now && now !== document.body && !(inside?.contains(now) ?? false)) return
        const target = opener?.isConnected ? opener : document.getElementById('main')
        target?.focus({ preventScroll: true })
      })
    }
  }, [opened, opener])
}

/** The control that opened a dialog: of a menu item, the menu's button. */
function openerOf(active: Element | null): HTMLElement | null {
  const menu = active?.closest('[role=menu]')
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
  return opener instanceof HTMLElement && opener !== document.body ? opener : null
}
