import { useLocalStorage } from '@mantine/hooks'
import {
  createContext,
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { loaded } from '../lib/loading'

const ShortcutsDialog = lazy(() => loaded(() => import('./ShortcutsDialog')))

/** A command of the page. */
export interface Shortcut {
  /** One key, or a sequence of two, such as "g c"; without it only the palette runs the command. */
  keys?: string
  label: string
  run: () => void
}

export interface ShortcutGroup {
  title: string
  all: Shortcut[]
}

interface Board {
  add: (group: RefObject<ShortcutGroup>) => () => void
  show: () => void
  groups: () => ShortcutGroup[]
}

const Context = createContext<Board>({ add: () => () => undefined, show: () => undefined, groups: () => [] })

/** Opens the list of shortcuts. */
export const useShowShortcuts = () => useContext(Context).show

/** Returns the commands of the open page, which the palette also runs. */
export const useCommands = () => useContext(Context).groups

/** Registers commands, with or without keys, for as long as the calling component is mounted. */
export function useShortcuts(title: string, all: Shortcut[]): void {
  const { add } = useContext(Context)
  const group = useRef<ShortcutGroup>({ title, all })
  // Before the page is painted: a key that is pressed as soon as something is shown acts on it.
  useLayoutEffect(() => {
    group.current = { title, all }
  })
  useLayoutEffect(() => add(group), [add])
}

/** How long the first of two keys waits for the second. */
const sequenceTimeout = 1500

/** Reports whether keys are meant for a field, a dialog or a menu. */
function busy(target: EventTarget | null): boolean {
  if ([...document.querySelectorAll('[role=dialog],[role=menu],[role=listbox]')].some((e) => e.checkVisibility()))
    return true
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['TEXTAREA', 'SELECT'].includes(target.tagName) ||
      (target instanceof HTMLInputElement && !['checkbox', 'button', 'file'].includes(target.type)))
  )
}

/** Listens for keys. They can be switched off, as WCAG 2.2, 2.1.4 requires: speech input may trigger them by accident. */
export function ShortcutsProvider({ children }: { children: ReactNode }) {
  const groups = useRef(new Set<RefObject<ShortcutGroup>>())
  const [on, setOn] = useLocalStorage({ key: 'dateline-shortcuts', defaultValue: true, getInitialValueInEffect: false })
  const [opened, setOpened] = useState(false)
  const add = useCallback((group: RefObject<ShortcutGroup>) => {
    groups.current.add(group)
    return () => void groups.current.delete(group)
  }, [])
  const show = useCallback(() => setOpened(true), [])
  const close = useCallback(() => setOpened(false), [])
  const [board] = useState<Board>(() => ({ add, show, groups: () => [...groups.current].map((g) => g.current) }))
  useEffect(() => {
    let before = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.key.length !== 1 || busy(e.target)) return
      if (e.key === '?') {
        setOpened(true)
        return
      }
      if (!on) return
      const all = [...groups.current].flatMap((g) => g.current.all)
      const typed = before ? `${before} ${e.key}` : e.key
      clearTimeout(timer)
      before = ''
      const found = all.find((s) => s.keys === typed)
      if (found) {
        e.preventDefault()
        found.run()
      } else if (all.some((s) => s.keys?.startsWith(`${typed} `))) {
        before = typed
        timer = setTimeout(() => (before = ''), sequenceTimeout)
      }
    }
    addEventListener('keydown', press)
    return () => {
      clearTimeout(timer)
      removeEventListener('keydown', press)
    }
  }, [on])
  return (
    <Context value={board}>
      {children}
      {opened && (
        <Suspense>
          <ShortcutsDialog groups={[...groups.current].map((g) => g.current)} on={on} setOn={setOn} close={close} />
        </Suspense>
      )}
    </Context>
  )
}
