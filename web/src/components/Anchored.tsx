import { CloseButton, Group, Popover } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

/** What floats above it belongs to it: pickers, menus, dialogs and messages. */
const above = '[data-portal], [role=dialog], [role=menu], [role=listbox], .mantine-Notifications-root'

/** A small dialog beside what was clicked. Esc and a click elsewhere close it; the focus goes back. */
export function Anchored({
  to,
  label,
  heading,
  close,
  children,
}: {
  to: HTMLElement
  label: string
  heading: ReactNode
  close: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const rect = to.getBoundingClientRect()
  const onClose = useRef(close)
  useEffect(() => {
    onClose.current = close
  })
  useEffect(() => {
    const press = (e: PointerEvent) => {
      if (e.target instanceof Element && !e.target.closest(above)) onClose.current()
    }
    document.addEventListener('pointerdown', press)
    return () => {
      document.removeEventListener('pointerdown', press)
      window.setTimeout(() => {
        const now = document.activeElement
        if ((!now || now === document.body) && to.isConnected) to.focus({ preventScroll: true })
      })
    }
  }, [to])
  return (
    <Popover
      opened
      trapFocus
      closeOnClickOutside={false}
      onChange={(open) => !open && close()}
      onDismiss={close}
      withinPortal
      position="right-start"
      middlewares={{ flip: { fallbackAxisSideDirection: 'start' }, shift: { padding: 8, crossAxis: true } }}
      width="min(380px, calc(100vw - 16px))"
      shadow="md"
      withArrow={false}
    >
      <Popover.Target>
        <div
          aria-hidden
          style={{
            position: 'fixed',
            pointerEvents: 'none',
            left: rect.left,
            top: rect.top,
            width: rect.width,
            height: rect.height,
          }}
        />
      </Popover.Target>
      <Popover.Dropdown aria-label={label} p="sm" style={{ maxHeight: 'calc(100dvh - 24px)', overflowY: 'auto' }}>
        <div>
          <Group justify="space-between" wrap="nowrap" mb="xs" align="flex-start">
            {heading}
            <CloseButton size="md" aria-label={t('close')} onClick={close} />
          </Group>
          {children}
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}
