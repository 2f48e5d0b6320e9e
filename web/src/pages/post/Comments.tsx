import { ActionIcon, Button, Combobox, Group, Stack, Text, Textarea, Title, useCombobox } from '@mantine/core'
import { IconMessage, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { NotLoaded } from '../../components/states'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { fold } from '../../lib/fold'
import { commentsQuery } from '../../lib/queries'
import { useAtLeast, useMe } from '../../lib/session'
import { mentionedIn, partsOf, type Person, typedMention } from './mentions'
import { forget, useFormState } from '../../lib/formState'

/** What members say to one another about a post; it is never published. */
export function Comments({ id }: { id: string }) {
  const { t } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  const may = useAtLeast('author')
  const { queryKey: key } = commentsQuery(id)
  const params = { path: { id } }
  const stored = useQuery(commentsQuery(id))
  const { data } = stored
  const form = `comment ${id}`
  const [text, setText] = useFormState(form, 'text', '')
  const people = data?.people ?? []
  const settled = () => void client.invalidateQueries({ queryKey: key })
  const send = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/posts/{id}/comments', {
          params,
          body: { text: text.trim(), mentions: mentionedIn(text, people) },
        }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => undefined,
  })
  const remove = useAct({
    send: (comment: string) => unwrap(api.DELETE('/api/v1/comments/{id}', { params: { path: { id: comment } } })),
    show: (comment) => showChange<{ id: string }>(client, key, (one) => (one.id === comment ? undefined : one)),
    settled,
    done: () => t('comments.deleted'),
  })
  if (!data) return <NotLoaded what={t('comments.title')} queries={[stored]} />
  if (!may && data.comments.length === 0) return null
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('comments.title')}>
      <Title order={2} size="h4">
        {t('comments.title')}
      </Title>
      {data.comments.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('comments.none')}
        </Text>
      ) : (
        <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-live="polite">
          {data.comments.map((c) => (
            <li key={c.id} data-comment={c.id}>
              <Group gap="xs" wrap="nowrap">
                <Text size="sm" fw={600} truncate>
                  {c.user_name}
                </Text>
                <Text size="xs" c="dimmed">
                  <Ago at={c.created_at} />
                </Text>
                {c.user_id === me.user.id && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    ml="auto"
                    aria-label={t('comments.delete')}
                    onClick={() => remove.mutate(c.id)}
                  >
                    <IconTrash size={16} aria-hidden />
                  </ActionIcon>
                )}
              </Group>
              <CommentText comment={c} people={people} />
            </li>
          ))}
        </Stack>
      )}
      {may && (
        <>
          <MentionField
            value={text}
            onChange={setText}
            people={people}
            submit={() => text.trim() !== '' && !send.isPending && send.mutate()}
          />
          <Button
            variant="default"
            leftSection={<IconMessage size={16} aria-hidden />}
            disabled={text.trim() === ''}
            loading={send.isPending}
            onClick={() => send.mutate()}
            style={{ alignSelf: 'flex-start' }}
          >
            {t('comments.add')}
          </Button>
        </>
      )}
    </Stack>
  )
}

function CommentText({ comment, people }: { comment: Schemas['Comment']; people: Person[] }) {
  const mentioned = people.filter((p) => comment.mentions.includes(p.id))
  return (
    <Text size="sm" className="dl-text">
      {partsOf(comment.text, mentioned).map((part, i) =>
        part.person ? <strong key={i}>{part.text}</strong> : part.text,
      )}
    </Text>
  )
}

/** A field in which an @ offers the members. */
function MentionField({
  value,
  onChange,
  people,
  submit,
}: {
  value: string
  onChange: (text: string) => void
  people: Person[]
  submit: () => void
}) {
  const { t } = useTranslation()
  const field = useRef<HTMLTextAreaElement>(null)
  const [cursor, setCursor] = useState(0)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const typed = typedMention(value, cursor)
  const found = typed ? people.filter((p) => fold(p.name).includes(fold(typed.name))).slice(0, 8) : []
  const choose = (id: string) => {
    const person = people.find((p) => p.id === id)
    if (!person || !typed) return
    const before = `${value.slice(0, typed.at)}@${person.name} `
    onChange(before + value.slice(cursor))
    setCursor(before.length)
    combobox.closeDropdown()
    field.current?.focus()
  }
  const changed = (text: string, at: number) => {
    onChange(text)
    setCursor(at)
    combobox.resetSelectedOption()
    if (typedMention(text, at)) {
      combobox.openDropdown()
      combobox.updateSelectedOptionIndex('active')
    } else combobox.closeDropdown()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={choose} withinPortal={false}>
      <Combobox.Target>
        <Textarea
          ref={field}
          label={t('comments.write')}
          description={t('comments.hint')}
          autosize
          minRows={2}
          maxLength={2000}
          value={value}
          onChange={(e) => changed(e.currentTarget.value, e.currentTarget.selectionStart)}
          onSelect={(e) => setCursor(e.currentTarget.selectionStart)}
          onBlur={() => combobox.closeDropdown()}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) submit()
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={found.length === 0}>
        <Combobox.Options aria-label={t('comments.people')}>
          {found.map((p) => (
            <Combobox.Option key={p.id} value={p.id}>
              {p.name}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
