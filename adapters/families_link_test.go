package adapters_test

func linkFamilies() []family {
	const rest = "https://api.example.test/v1/things?page=2"
	goesOn := []string{"Link", `<` + rest + `>; rel="next", <https://api.example.test/v1/things?page=9>; rel="last"`}
	ends := []string{"Link", `<https://api.example.test/v1/things?page=1>; rel="first"`}
	onThree := []string{"Link", `</v1/things?page=3>; rel="next"`}
	const three = "> https://api.example.test/v1/things?page=3"
	twoNext := page(`[]`, "Link", `</a>; rel=next, </b>; rel=next`)

	plain := family{
		first: page(`[{"id":"a"},{"id":"b"}]`, goesOn...), next: rest,
		last:  page(`[{"id":"c"}]`, ends...),
		short: page(`[]`, onThree...), shortNext: three,
		blocked: []canned{twoNext}, because: "end_unknown",
		stranger: page(`{"message":"moved"}`),
		failed:   refusal(404, `{"message":"Not Found"}`), failure: "request_refused",
	}
	named := func(contract string, change func(*family)) family {
		f := plain
		f.contract = contract
		change(&f)
		return f
	}
	search := func(items, more string) string {
		return `{"total_count":3,"incomplete_results":false,"items":` + items + more + `}`
	}
	return []family{
		named("github-rest", func(f *family) {
			f.failed, f.failure = refusal(403, `{"message":"You have exceeded a secondary rate limit."}`), "rate_limited"
		}),
		named("github-rest-unlinked", func(f *family) {
			f.size = 2
			f.blocked, f.because = []canned{page(`[{"id":"a"},{"id":"b"}]`)}, "a b . vetoed"
			f.failed, f.failure = refusal(409, `{"message":"Git Repository is empty."}`), "request_refused"
		}),
		named("github-search", func(f *family) {
			f.first, f.last = page(search(`[{"id":"a"},{"id":"b"}]`, ""), goesOn...), page(search(`[{"id":"c"}]`, ""), ends...)
			f.short = page(search(`[]`, ""), onThree...)
			f.blocked = []canned{page(`{"total_count":1400,"incomplete_results":true,"items":[{"id":"z"}]}`)}
			f.because = "z . vetoed"
			f.stranger = page(`{"items":[]}`)
			f.failed, f.failure = refusal(422, `{"message":"Only the first 1000 search results are available"}`), "request_refused"
		}),
		named("gitlab-offset", func(f *family) {
			f.failed, f.failure = refusal(405, `{"error":"Offset pagination has a maximum allowed offset of 50000"}`), "request_refused"
		}),
		named("gitlab-keyset", func(f *family) {
			f.query, f.blockedQuery = "?pagination=keyset", "?pagination=legacy"
			f.blocked, f.because = []canned{page(`[]`)}, ". vetoed"
			f.failed, f.failure = refusal(429, `{"message":"Retry later"}`, "Retry-After", "3"), "rate_limited"
		}),
		named("shopify-rest", func(f *family) {
			f.first, f.last = page(`{"orders":[{"id":"a"},{"id":"b"}]}`, goesOn...), page(`{"orders":[{"id":"c"}]}`, "Link", `</v1/things?page=1>; rel="previous"`)
			f.short = page(`{"orders":[]}`, onThree...)
			f.blocked = []canned{page(`{"orders":[]}`, "Link", `</a>; rel=next, </b>; rel=next`)}
			f.stranger = page(`{"errors":"Not Found"}`)
			f.failed, f.failure = refusal(400, `{"errors":{"page_info":"Invalid value."}}`), "cursor_expired"
		}),
		named("mastodon", func(f *family) {
			f.failed, f.failure = refusal(429, `{"error":"Too many requests"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "2025-03-05T12:05:00.000000Z"), "rate_limited"
		}),
		named("docker-registry", func(f *family) {
			f.first, f.last = page(`{"repositories":["a","b"]}`, goesOn...), page(`{"repositories":["c"]}`)
			f.short = page(`{"repositories":[]}`, onThree...)
			f.blocked = []canned{page(`{"repositories":[]}`, "Link", `</a>; rel=next, </b>; rel=next`)}
			f.stranger = page(`{"errors":[{"code":"DENIED"}]}`)
			f.failed, f.failure = refusal(429, `{"errors":[{"code":"TOOMANYREQUESTS"}]}`), "rate_limited"
		}),
		named("link-header", func(*family) {}),
	}
}
