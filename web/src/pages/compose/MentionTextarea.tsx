import { Combobox, Group, Text, Textarea, type TextareaProps, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, type Schemas, unwrap } from '../../api/client'
import { AccountAvatar } from '../../components/Avatar'
import { NetworkGlyph } from '../../components/network'
import { InlineFailed } from '../../components/states'
import { typedHandle } from './handles'

/** Networks that can be searched for accounts. */
const searchable = ['mastodon', 'bluesky']

type Found = Schemas['Mention'] & { network: string }

/** A field in which an @ offers accounts of the networks to which the post goes. */
export function MentionTextarea({
  value,
  change,
  accounts,
  ...field
}: Omit<TextareaProps, 'value' | 'onChange'> & { value: string; change: (text: string) => void; accounts: Account[] }) {
  const { t } = useTranslation()
  const ref = useRef<HTMLTextAreaElement>(null)
  const [typed, setTyped] = useState<{ at: number; name: string }>()
  const [name] = useDebouncedValue(typed?.name ?? '', 250)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const asked = searchable.flatMap(
    (network) => accounts.find((a) => a.network === network && a.status === 'connected') ?? [],
  )
  const { found, error } = useQueries({
    queries: asked.map((a) => ({
      queryKey: ['mentions', a.id, name],
      enabled: typed !== undefined && name.length > 1,
      staleTime: 300_000,
      retry: false,
      // While a longer name is asked for, its accounts stay in the list, and the selected one selected.
      placeholderData: (found: Found[] | undefined, before?: { queryKey: readonly unknown[] }) =>
        name.startsWith(String(before?.queryKey[2])) ? found : undefined,
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Found[]> => {
        const { mentions } = await unwrap(
          api.GET('/api/v1/accounts/{id}/mentions', { signal, params: { path: { id: a.id }, query: { q: name } } }),
        )
        return mentions.map((m) => ({ ...m, network: a.network }))
      },
    })),
    combine: (results) => ({
      found: results.flatMap((r) => r.data ?? []),
      error: results.find((r) => r.error)?.error,
    }),
  })
  const shown = typed?.name.startsWith(name) ? found : []
  const keys = shown.map((m) => m.network + m.handle).join(' ')
  const { dropdownOpened, selectFirstOption } = combobox
  // The store knows the selected option by its position, which is another account's in another list.
  useEffect(() => {
    if (dropdownOpened && keys) selectFirstOption()
  }, [dropdownOpened, keys, selectFirstOption])
  const close = () => {
    setTyped(undefined)
    combobox.closeDropdown()
  }
  const choose = (key: string) => {
    const mention = shown.find((m) => m.network + m.handle === key)
    if (!mention || !typed) return
    const before = `${value.slice(0, typed.at)}${mention.handle} `
    change(before + value.slice(typed.at + 1 + typed.name.length))
    close()
    requestAnimationFrame(() => ref.current?.setSelectionRange(before.length, before.length))
    ref.current?.focus()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={320} position="bottom-start">
      <Combobox.Target>
        <Textarea
          {...field}
          ref={ref}
          value={value}
          onChange={(e) => {
            const text = e.currentTarget.value
            change(text)
            const now = asked.length > 0 ? typedHandle(text, e.currentTarget.selectionStart) : undefined
            setTyped(now)
            if (now) combobox.openDropdown()
            else combobox.closeDropdown()
          }}
          onBlur={close}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={shown.length === 0}>
        <Combobox.Options aria-label={t('compose.mentions')}>
          {shown.map((m) => (
            <Combobox.Option key={m.network + m.handle} value={m.network + m.handle}>
              <Group gap="xs" wrap="nowrap">
                {m.avatar ? (
                  <img
                    src={m.avatar}
                    alt=""
                    width={32}
                    height={32}
                    style={{ borderRadius: '50%', objectFit: 'cover' }}
                  />
                ) : (
                  <AccountAvatar name={m.name || m.handle} network={m.network} glyph={false} />
                )}
                <div style={{ minWidth: 0 }}>
                  <Text size="sm" fw={600} truncate>
                    {m.name || m.handle}
                  </Text>
                  <Group gap={4} wrap="nowrap">
                    <NetworkGlyph network={m.network} size={14} named />
                    <Text size="xs" truncate>
                      {m.handle}
                    </Text>
                  </Group>
                </div>
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
      {typed && error && <InlineFailed what={t('compose.mentionsFailed')} error={error} />}
    </Combobox>
  )
}
