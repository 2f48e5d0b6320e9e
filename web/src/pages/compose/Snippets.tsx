import {
  ActionIcon,
  Button,
  Group,
  Popover,
  ScrollArea,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBlockquote, IconDeviceFloppy, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { memo, useContext, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { NotLoaded } from '../../components/states'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { fold } from '../../lib/fold'
import { snippetsQuery } from '../../lib/queries'
import type { Part } from './draft'
import { insertAt } from './insert'
import { templateFrom, WholePostContext, withTemplate } from './template'

type Snippet = Schemas['Snippet']
const kinds = ['text', 'hashtags', 'template'] as const

/** Inserts a stored text into a part where the cursor is, and stores the part's text as one. */
export const Snippets = memo(function Snippets({
  part,
  change,
}: {
  part: number
  change: (update: (p: Part[]) => Part[]) => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const whole = useContext(WholePostContext)
  const [opened, { open, close }] = useDisclosure()
  const stored = useQuery({ ...snippetsQuery, enabled: opened })
  const all = stored.data ?? []
  const [typed, setTyped] = useState('')
  const [kind, setKind] = useState<Snippet['kind']>('text')
  const cursor = useRef(0)
  const [text, setText] = useState('')
  const field = () => document.querySelector<HTMLTextAreaElement>(`[data-part="${part}"]`)
  const settled = () => void client.invalidateQueries(snippetsQuery)
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/snippets', {
          body: { kind, name: typed.trim(), text, ...(kind === 'template' && whole ? templateFrom(whole.read()) : {}) },
        }),
      ),
    accepted: () => {
      setTyped('')
      close()
    },
    settled,
    done: (s) => t('snippets.saved', { name: s.name }),
  })
  const remove = useAct({
    send: ({ id }: Snippet) => unwrap(api.DELETE('/api/v1/snippets/{id}', { params: { path: { id } } })),
    show: ({ id }) => showChange<Snippet>(client, snippetsQuery.queryKey, (one) => (one.id === id ? undefined : one)),
    settled,
    done: (_, { name }) => t('act.deleted', { name }),
  })
  const show = () => {
    const f = field()
    cursor.current = f?.selectionStart ?? f?.value.length ?? 0
    setText(f?.value ?? '')
    setTyped('')
    open()
  }
  const insert = (s: Snippet) => {
    close()
    const at = cursor.current
    if (s.template && whole) whole.change((d) => withTemplate(d, s.text, s.template ?? {}, whole.ready, part, at))
    else change((parts) => parts.map((p, i) => (i === part ? { ...p, content: insertAt(p.content, at, s.text) } : p)))
    setTimeout(() => field()?.focus())
  }
  const found = all.filter((s) => fold(`${s.name} ${s.text}`).includes(fold(typed.trim())))
  return (
    <Popover
      opened={opened}
      onChange={(o) => !o && close()}
      position="bottom-start"
      trapFocus
      returnFocus
      withRoles
      width={320}
    >
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          leftSection={<IconBlockquote size={16} aria-hidden />}
          onClick={() => (opened ? close() : show())}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('snippets.title')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('snippets.title')}>
        <Stack gap="xs">
          <TextInput
            data-autofocus
            aria-label={t('snippets.find')}
            placeholder={t('snippets.find')}
            value={typed}
            maxLength={60}
            onChange={(e) => setTyped(e.currentTarget.value)}
          />
          <ScrollArea.Autosize mah={240}>
            {kinds.map((k) => {
              const here = found.filter((s) => s.kind === k)
              return (
                here.length > 0 && (
                  // biome-ignore lint/a11y/useSemanticElements: a fieldset would change the layout
                  <div key={k} role="group" aria-label={t(`snippets.many.${k}`)}>
                    <Text size="xs" c="dimmed" fw={600} mt={4}>
                      {t(`snippets.many.${k}`)}
                    </Text>
                    {here.map((s) => (
                      <Group key={s.id} gap={4} wrap="nowrap" className="dl-snippet">
                        <UnstyledButton flex={1} miw={0} py={4} onClick={() => insert(s)} data-snippet={s.name}>
                          <Text size="sm" fw={600} truncate>
                            {s.name}
                          </Text>
                          <Text size="xs" c="dimmed" truncate>
                            {s.text}
                          </Text>
                        </UnstyledButton>
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          size="sm"
                          aria-label={t('snippets.delete', { name: s.name })}
                          onClick={() => remove.mutate(s)}
                        >
                          <IconTrash size={16} aria-hidden />
                        </ActionIcon>
                      </Group>
                    ))}
                  </div>
                )
              )
            })}
            <NotLoaded what={t('snippets.title')} queries={[stored]} />
            {stored.data?.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('snippets.none')}
              </Text>
            )}
          </ScrollArea.Autosize>
          {typed.trim() !== '' &&
            text.trim() !== '' &&
            !all.some((s) => s.kind === kind && fold(s.name) === fold(typed.trim())) && (
              <>
                <SegmentedControl
                  size="xs"
                  aria-label={t('snippets.kind')}
                  value={kind}
                  onChange={(v) => setKind(v as Snippet['kind'])}
                  data={kinds.map((value) => ({ value, label: t(`snippets.kinds.${value}`) }))}
                />
                {kind === 'template' && (
                  <Text size="xs" c="dimmed">
                    {t('snippets.templateText')}
                  </Text>
                )}
                <Button
                  size="xs"
                  leftSection={<IconDeviceFloppy size={16} aria-hidden />}
                  loading={make.isPending}
                  onClick={() => make.mutate()}
                >
                  {t('snippets.save', { name: typed.trim() })}
                </Button>
              </>
            )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
})
