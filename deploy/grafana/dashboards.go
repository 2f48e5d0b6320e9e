package grafana

// Dashboards lists all pages.
func Dashboards() []Dashboard {
	return []Dashboard{newsroom(), publishing(), readers(), crawl(), engines()}
}

// now is a number of the present; over is a history.
func now(title, unit, query string) Panel {
	return Panel{Title: title, Unit: unit, Now: true, Lines: []Line{{Query: query}}}
}

func over(title, unit, about string, lines ...Line) Panel {
	return Panel{Title: title, Unit: unit, About: about, Lines: lines}
}

// quantiles are the median and the slow ones of a histogram.
func quantiles(histogram, by string) []Line {
	group := "le"
	legend := ""
	if by != "" {
		group, legend = by+", le", "{{"+by+"}} "
	}
	var all []Line
	for _, q := range []string{"0.5", "0.95", "0.99"} {
		all = append(all, Line{"histogram_quantile(" + q + ", sum by (" + group + ") (rate(" + histogram +
			"_bucket[$__rate_interval])))", legend + "p" + q[2:]})
	}
	return all
}

func newsroom() Dashboard {
	return Dashboard{
		UID: "dateline-desk", Title: "Dateline: the desk",
		About: "Pending and published posts, and dead letters.", Rows: []Row{
			{"Now", []Panel{
				now("Scheduled", "short", `max(dateline_posts{state="scheduled"})`),
				now("Due within a minute", "short", `max(dateline_posts{state="due_within_a_minute"})`),
				now("More than 30 s late", "short", `max(dateline_posts{state="overdue"})`),
				now("Posts with dead letters", "short", `max(dateline_posts{state="parked"})`),
				now("Accepted in the last hour", "short", `sum(increase(dateline_posts_scheduled_total[1h]))`),
				now("Posted in the last hour", "short",
					`sum(increase(dateline_target_outcomes_total{outcome="posted"}[1h]))`),
				now("Alerts", "short", `count(ALERTS{alertstate="firing"}) or vector(0)`),
				now("Accounts to reconnect", "short",
					`sum(max by (network) (dateline_accounts{status="needs_reconnect"})) or vector(0)`),
				now("Networks whose access ends within 14 days", "short",
					`count(min by (network) (dateline_account_access_expiry_seconds) < 14 * 86400) or vector(0)`),
				now("Webhook deliveries waiting", "short", `max(dateline_webhook_deliveries_pending)`),
				now("Articles stored in the last hour", "short",
					`sum(increase(dateline_crawl_pages_total{kind="article",result="new"}[1h]))`),
				now("Hits counted in the last hour", "short",
					`sum(increase(dateline_view_hits_total{result="counted"}[1h]))`),
			}},
			{"Posts", []Panel{
				over("Accepted per minute", "short", "Posts and drafts.", Line{
					`60 * sum(rate(dateline_posts_scheduled_total[$__rate_interval]))`, "accepted",
				}),
				over("Posted per minute", "short", "By network.", Line{
					`60 * sum by (network) (rate(dateline_target_outcomes_total{outcome="posted"}[$__rate_interval]))`,
					"{{network}}",
				}),
				over("Not posted per minute", "short", "Failed permanently, or uncertain.",
					Line{
						`60 * sum by (outcome) (rate(dateline_target_outcomes_total{outcome=~"failed|uncertain"}[$__rate_interval])) or vector(0)`, "{{outcome}}",
					}),
				over("Dead letters", "short", "Targets that wait for a person, by reason.",
					Line{`max by (reason) (dateline_dead_letters) or vector(0)`, "{{reason}}"}),
				over("Queue", "short", "Posts by what they wait for.", Line{
					`max by (state) (dateline_posts)`, "{{state}}",
				}),
				over("Accounts", "short", "By network and status.", Line{
					`max by (network, status) (dateline_accounts)`, "{{network}} {{status}}",
				}),
			}},
		},
	}
}

func publishing() Dashboard {
	const trouble = `result=~"transient|ambiguous|not_sent|throttled"`
	return Dashboard{
		UID: "dateline-publishing", Title: "Dateline: publishing",
		About: "How late posts are, what networks answer, and whether workers keep up.", Rows: []Row{
			{"Lateness", []Panel{
				over("Lateness", "s", "From a post's time to the call that published it. Alerts begin at 30 s.",
					quantiles("dateline_post_lateness_seconds", "")...),
				over("Lateness by network", "s", "The slowest of a hundred.",
					Line{
						`histogram_quantile(0.99, sum by (network, le) (rate(dateline_post_lateness_seconds_bucket[$__rate_interval])))`, "{{network}}",
					}),
				over("Outcomes per minute", "short", "What came of targets.", Line{
					`60 * sum by (outcome) (rate(dateline_target_outcomes_total[$__rate_interval]))`, "{{outcome}}",
				}),
				over("Tried again", "percentunit", "The share of outcomes that is another try. Alerts begin at 20 %.",
					Line{
						`(sum by (network) (rate(dateline_target_outcomes_total{outcome="retrying"}[$__rate_interval])) or 0 * sum by (network) (rate(dateline_target_outcomes_total[$__rate_interval]))) / sum by (network) (rate(dateline_target_outcomes_total[$__rate_interval]))`, "{{network}}",
					}),
			}},
			{"Networks", []Panel{
				over("Calls per second", "reqps", "By network and outcome class.",
					Line{
						`sum by (network, result) (rate(dateline_network_calls_total[$__rate_interval]))`,
						"{{network}} {{result}}",
					}),
				over("Errors", "percentunit",
					"The share of calls that failed for reasons that are not the post's. Alerts begin at 5 %.",
					Line{
						`(sum by (network) (rate(dateline_network_calls_total{` + trouble +
							`}[$__rate_interval])) or 0 * sum by (network) (rate(dateline_network_calls_total[$__rate_interval]))) / sum by (network) (rate(dateline_network_calls_total[$__rate_interval]))`, "{{network}}",
					}),
				over("Time of calls", "s", "The slowest of twenty.",
					Line{
						`histogram_quantile(0.95, sum by (network, use, le) (rate(dateline_network_call_duration_seconds_bucket[$__rate_interval])))`, "{{network}} {{use}}",
					}),
				over("Webhook deliveries waiting", "short", "", Line{
					`max(dateline_webhook_deliveries_pending)`, "waiting",
				}),
			}},
			{"Workers", []Panel{
				over("Armed", "short", "Posts that wait for their time in the memory of a worker.",
					Line{`sum by (instance) (dateline_posts_armed)`, "{{instance}}"}),
				over("Backlog of Temporal", "short", "Tasks that no worker has started yet.",
					Line{`max by (task_queue, kind) (dateline_temporal_backlog)`, "{{task_queue}} {{kind}}"}),
				over("Steps wait for a worker", "s",
					"From when a workflow's step was ready to when a worker took it, the slowest of twenty. Alerts "+
						"begin at 5 s.",
					Line{
						`histogram_quantile(0.95, sum by (task_queue, le) (rate(temporal_workflow_task_schedule_to_start_latency_seconds_bucket[$__rate_interval])))`, "{{task_queue}}",
					}),
				over("Activities wait for a worker", "s",
					"From when an activity was ready to when a worker took it. 0 while a worker runs its own "+
						"activities.",
					Line{
						`histogram_quantile(0.95, sum by (task_queue, le) (rate(temporal_activity_schedule_to_start_latency_seconds_bucket[$__rate_interval]))) or vector(0)`, "{{task_queue}}",
					}),
				over("Oldest task that waits", "s", "Alerts begin at 30 s.", Line{
					`max by (task_queue, kind) (dateline_temporal_backlog_age_seconds)`, "{{task_queue}} {{kind}}",
				}),
				over("Room for tasks", "short", "Free task slots of the workers.",
					Line{
						`sum by (task_queue, worker_type) (temporal_worker_task_slots_available)`,
						"{{task_queue}} {{worker_type}}",
					}),
			}},
			{"Metrics of posts", []Panel{
				over("Readings per minute", "short", "Posts whose likes, views and other metrics were read, by result.",
					Line{
						`60 * sum by (network, state) (rate(dateline_measured_posts_total[$__rate_interval])) or vector(0)`, "{{network}} {{state}}",
					}),
				over("Pauses per hour", "short", "Runs that stopped, by reason.",
					Line{
						`sum by (network, reason) (increase(dateline_measuring_pauses_total[1h])) or vector(0)`,
						"{{network}} {{reason}}",
					}),
			}},
		},
	}
}

func readers() Dashboard {
	return Dashboard{
		UID: "dateline-readers", Title: "Dateline: readers",
		About: "Hits of readers, from the browser to the database.", Rows: []Row{
			{"Hits", []Panel{
				over("Hits per second", "reqps",
					"Accepted hits by kind: counted, and duplicates within the site's window.",
					Line{
						`sum by (kind, result) (rate(dateline_view_hits_total[$__rate_interval]))`,
						"{{kind}} {{result}}",
					}),
				over("Filtered per second", "reqps", "Filtered hits by reason.",
					Line{
						`sum by (reason) (rate(dateline_view_hits_filtered_total[$__rate_interval])) or vector(0)`,
						"{{reason}}",
					}),
				over("Repeated", "percentunit", "The share of accepted hits that were counted before.",
					Line{
						`(sum(rate(dateline_view_hits_total{result="duplicate"}[$__rate_interval])) or vector(0)) / sum(rate(dateline_view_hits_total[$__rate_interval]))`, "duplicates",
					}),
				over("Answers per second", "reqps", "Routes below /v1/. 503: Redis did not accept the hit.",
					Line{
						`sum by (route, status) (rate(dateline_http_requests_total{route=~"/v1/.*"}[$__rate_interval]))`, "{{route}} {{status}}",
					}),
			}},
			{"Redis", []Panel{
				over("Hits per batch", "short", "Hits per round trip to Redis.",
					quantiles("dateline_view_batch_hits", "")...),
				over("Duration of a batch", "s", "", quantiles("dateline_view_batch_duration_seconds", "result")...),
			}},
			{"To the database", []Panel{
				over("Flush lag", "s", "Time since the last flush while Redis has pending entries. Alerts start at "+
					"5 minutes.", Line{`max(dateline_view_flush_lag_seconds)`, "lag"}),
				over("Waiting", "short", "Entries in Redis for the next flush.", Line{
					`max(dateline_view_pending_entries)`, "waiting",
				}),
				over("Flushed pages per second", "short", "", Line{
					`sum(rate(dateline_view_flushed_pages_total[$__rate_interval]))`, "pages",
				}),
				over("Flushes per minute", "short", "", Line{
					`60 * sum by (result) (rate(dateline_view_flushes_total[$__rate_interval]))`, "{{result}}",
				}),
				over("Duration of a flush", "s", "Includes 3 s for Redis' append-only file.",
					quantiles("dateline_view_flush_duration_seconds", "")...),
				over("Count mismatches", "short",
					"Totals that differ between Redis and the database in the last comparison; should be 0.",
					Line{`max(dateline_view_count_mismatches)`, "differing"}),
				over("Quarantined records", "short", "Unreadable records, to be replayed or discarded.",
					Line{`max(dateline_view_quarantine_records)`, "waiting"}),
				over("Records quarantined and discarded per hour", "short", "",
					Line{`sum(increase(dateline_view_records_quarantined_total[1h])) or vector(0)`, "quarantined"},
					Line{`sum(increase(dateline_view_records_discarded_total[1h])) or vector(0)`, "discarded"}),
			}},
		},
	}
}

func crawl() Dashboard {
	return Dashboard{
		UID: "dateline-crawl", Title: "Dateline: crawl",
		About: "Requests to sites, what they brought, and how fresh it is.", Rows: []Row{
			{"Now", []Panel{
				now("Seeds due", "short", `max(dateline_crawl_seeds{state="due"})`),
				now("Seeds overdue", "short", `max(dateline_crawl_seeds{state="overdue"})`),
				now("Domains", "short", `max(dateline_crawl_domains{state="known"})`),
				now("Domains paused", "short", `max(dateline_crawl_domains{state="paused"})`),
				now("URLs known", "short", `max(dateline_crawl_frontier_urls)`),
				now("Pages to parse", "short", `max(dateline_articles_pending{stage="parse"})`),
				now("Changes to index", "short", `max(dateline_articles_pending{stage="index"})`),
				now("Articles to place in stories", "short", `max(dateline_articles_pending{stage="story"})`),
			}},
			{"Freshness", []Panel{
				over("From publication until stored and searchable", "s",
					"Of articles that came out while their site was watched. Alerts begin at 30 minutes.",
					quantiles("dateline_crawl_freshness_seconds", "stage")...),
				over("Oldest page that waits", "s", "To be parsed, indexed or placed in a story.",
					Line{`max by (stage) (dateline_articles_oldest_pending_seconds)`, "{{stage}}"}),
				over("Seeds", "short", "", Line{`max by (state) (dateline_crawl_seeds)`, "{{state}}"}),
				over("Domains", "short", "", Line{`max by (state) (dateline_crawl_domains)`, "{{state}}"}),
			}},
			{"WebSub", []Panel{
				over("Subscriptions to hubs", "short", "", Line{
					`max by (state) (dateline_websub_subscriptions)`, "{{state}}",
				}),
				over("Requests per minute", "short", "Subscriptions that were requested, and what hubs decided.",
					Line{
						`60 * sum by (result) (rate(dateline_websub_requests_total[$__rate_interval])) or vector(0)`,
						"{{result}}",
					}),
				over("Deliveries per minute", "short", "By result.",
					Line{
						`60 * sum by (result) (rate(dateline_websub_deliveries_total[$__rate_interval])) or vector(0)`,
						"{{result}}",
					}),
				over("Delivered articles per minute", "short", "New ones, before a poll found them.",
					Line{`60 * sum(rate(dateline_websub_articles_total[$__rate_interval])) or vector(0)`, "articles"}),
			}},
			{"Requests", []Panel{
				over("Requests per second", "reqps", "By outcome.", Line{
					`sum by (outcome) (rate(dateline_crawl_requests_total[$__rate_interval]))`, "{{outcome}}",
				}),
				over("Bytes per second", "Bps", "Of bodies, as they came over the wire.",
					Line{`sum(rate(dateline_crawl_bytes_total[$__rate_interval]))`, "bytes"}),
				over("Time of fetches", "s", "", quantiles("dateline_crawl_request_duration_seconds", "")...),
				over("Timeouts", "percentunit", "The share of requests without an answer in time.",
					Line{
						`(sum(rate(dateline_crawl_requests_total{outcome="timeout"}[$__rate_interval])) or vector(0)) / sum(rate(dateline_crawl_requests_total[$__rate_interval]))`, "timeouts",
					}),
			}},
			{"Pages", []Panel{
				over("Pages per minute", "short", "By kind and result.",
					Line{
						`60 * sum by (kind, result) (rate(dateline_crawl_pages_total[$__rate_interval]))`,
						"{{kind}} {{result}}",
					}),
				over("Duplicates", "percentunit",
					"The shares of links that were known before, and of articles fetched again without news.",
					Line{
						`(sum(rate(dateline_crawl_links_total{result="known"}[$__rate_interval])) or vector(0)) / sum(rate(dateline_crawl_links_total[$__rate_interval]))`, "links",
					},
					Line{
						`(sum(rate(dateline_crawl_pages_total{kind="article",result="unchanged"}[$__rate_interval])) or vector(0)) / sum(rate(dateline_crawl_pages_total{kind="article"}[$__rate_interval]))`, "articles",
					}),
				over("Blocked by robots.txt per minute", "short", "",
					Line{
						`60 * sum(rate(dateline_crawl_pages_total{result="blocked_by_robots"}[$__rate_interval])) or vector(0)`, "blocked",
					}),
				over("URLs known", "short", "", Line{`max(dateline_crawl_frontier_urls)`, "URLs"}),
			}},
			{"Articles", []Panel{
				over("Pages read per minute", "short",
					"By the selectors of their site, by generic extraction, without an article, or not at all.",
					Line{
						`60 * sum by (result) (rate(dateline_articles_parsed_total[$__rate_interval]))`,
						"{{result}}",
					}),
				over("Fields that selectors give", "percentunit", "The share of pages on which they did.",
					Line{
						`(sum by (field) (rate(dateline_article_fields_total{result="filled"}[$__rate_interval])) or 0 * sum by (field) (rate(dateline_article_fields_total[$__rate_interval]))) / sum by (field) (rate(dateline_article_fields_total[$__rate_interval]))`, "{{field}}",
					}),
				over("Changes of selectors per hour", "short", "", Line{
					`3600 * sum by (change) (rate(dateline_selector_changes_total[$__rate_interval]))`, "{{change}}",
				}),
			}},
			{"Stories", []Panel{
				over("Articles placed in stories per second", "short",
					"Joined a story, founded one, copies and changed articles.", Line{
						`sum by (result) (rate(dateline_story_articles_total[$__rate_interval]))`, "{{result}}",
					}),
				over("From a stored article until it is placed", "s", "",
					quantiles("dateline_story_placement_seconds", "")...),
				over("Alerts of missed stories per hour", "short", "", Line{
					`sum(increase(dateline_story_alerts_total[1h])) or vector(0)`, "alerts",
				}),
			}},
			{"Search", []Panel{
				over("Searches per second", "reqps", "", Line{
					`sum by (mode, result) (rate(dateline_searches_total[$__rate_interval]))`, "{{mode}} {{result}}",
				}),
				over("Time of searches", "s", "", quantiles("dateline_search_duration_seconds", "mode")...),
			}},
		},
	}
}

func engines() Dashboard {
	return Dashboard{
		UID: "dateline-engines", Title: "Dateline: engines",
		About: "The processes and what they stand on.", Rows: []Row{
			{"Now", []Panel{
				{Title: "Answering", Now: true, Unit: "bool_yes_no", Lines: []Line{
					{`min by (engine) (dateline_engine_up)`, "{{engine}}"},
				}},
				{Title: "Versions", Now: true, Unit: "short", Lines: []Line{
					{`count by (version) (dateline_build_info)`, "{{version}}"},
				}},
				now("Processes away", "short", `count(up{job="dateline"} == 0) or vector(0)`),
				now("Certificates that end within 30 days", "short",
					`count(min by (endpoint) (dateline_certificate_expiry_seconds) < 30 * 86400) or vector(0)`),
				now("Keys changed", "s", `max(dateline_keyset_age_seconds)`),
				now("Clock", "s", `max(abs(dateline_clock_offset_seconds))`),
			}},
			{"API", []Panel{
				over("Answers per second", "reqps", "By status.", Line{
					`sum by (status) (rate(dateline_http_requests_total[$__rate_interval]))`, "{{status}}",
				}),
				over("Time of answers", "s", "", quantiles("dateline_http_request_duration_seconds", "")...),
				over("Internal errors", "percentunit", "Alerts begin at 5 %.",
					Line{
						`(sum(rate(dateline_http_requests_total{status=~"5.."}[$__rate_interval])) or vector(0)) / sum(rate(dateline_http_requests_total[$__rate_interval]))`, "errors",
					}),
				over("Busiest routes", "reqps", "", Line{
					`topk(10, sum by (method, route) (rate(dateline_http_requests_total[$__rate_interval])))`,
					"{{method}} {{route}}",
				}),
			}},
			{"Processes", []Panel{
				over("Processors", "short", "In use by each process.", Line{
					`rate(process_cpu_seconds_total{job="dateline"}[$__rate_interval])`, "{{instance}}",
				}),
				over("Memory", "bytes", "In use, and what each may use.",
					Line{`process_resident_memory_bytes{job="dateline"}`, "{{instance}}"},
					Line{`dateline_memory_limit_bytes`, "{{instance}} limit"}),
				over("Goroutines", "short", "", Line{`go_goroutines{job="dateline"}`, "{{instance}}"}),
				over("Open files", "percentunit", "Of those allowed. Alerts begin at 80 %.",
					Line{`process_open_fds{job="dateline"} / process_max_fds`, "{{instance}}"}),
				over("Disks", "percentunit", "Free. Alerts begin at 10 %.",
					Line{
						`min by (instance, volume) (dateline_disk_bytes{state="free"}) / min by (instance, volume) (dateline_disk_bytes{state="size"})`, "{{instance}} {{volume}}",
					}),
				over("Clocks", "s", "How far each host is ahead of the database.", Line{
					`dateline_clock_offset_seconds`, "{{instance}}",
				}),
			}},
			{"Engines", []Panel{
				over("Processors of the engines", "short", "Of those that `dateline up` runs itself.",
					Line{`rate(dateline_engine_cpu_seconds_total[$__rate_interval])`, "{{engine}}"}),
				over("Memory of the engines", "bytes", "Of those that `dateline up` runs itself.",
					Line{`dateline_engine_memory_bytes`, "{{engine}}"}),
				over("Connections to Postgres", "short", "Of each process.", Line{
					`sum by (instance, state) (dateline_database_connections)`, "{{instance}} {{state}}",
				}),
				over("Connections of the Postgres server", "percentunit", "Of those allowed. Alerts begin at 85 %.",
					Line{
						`max(dateline_database_server_connections{state="used"}) / max(dateline_database_server_connections{state="max"})`, "in use",
					}),
				over("Size of the database", "bytes", "", Line{`max(dateline_database_size_bytes)`, "size"}),
				over("Connections to Redis", "short", "", Line{
					`sum by (instance, state) (dateline_redis_connections)`,
					"{{instance}} {{state}}",
				}, Line{`max(dateline_redis_server_connections{state="used"})`, "server"}),
				over("Memory of Redis", "bytes", "", Line{`max by (state) (dateline_redis_memory_bytes)`, "{{state}}"}),
				over("Requests to Temporal per second", "reqps", "",
					Line{
						`sum(rate(temporal_request_total[$__rate_interval])) or sum(rate(temporal_request[$__rate_interval]))`, "requests",
					}),
			}},
		},
	}
}
