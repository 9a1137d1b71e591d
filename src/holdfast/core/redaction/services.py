"""Services: names of those whose keys look like any other random string, so that only the name tells.

A key that shows by its own form whose it is stands in `core.redaction.forms`.
"""

from typing import Final

PROVIDERS: Final = frozenset(
    """abstractapi abuseipdb adafruit adobe adyen aha airbrake airship airtable aiven alchemy algolia
    alibaba aliyun alphavantage amadeus amplitude anthropic anyscale apify apilayer apollo appcenter
    appdynamics appsflyer appwrite artifactory asana assemblyai auth0 authress autodesk aviationstack
    aws axiom azure azuread backblaze baidu basecamp baseten beamer betterstack bigcommerce binance
    bitbucket bitfinex bitly bitrise bittrex blockfrost blynk box braintree branch braze browserless
    browserstack bscscan bugsnag buildkite bunnycdn buttercms calendly canva censys cerebras chargebee
    chartmogul chatwoot checkmarx checkout checkr circleci cisco clarifai clearbit clerk clickhouse
    clickup clockify clojars cloudant cloudconvert cloudflare cloudinary cloudsmith cloudways codacy
    codeclimate codecov codeship cohere coinapi coinbase coingecko coinmarketcap configcat confluent
    contentful convertkit couchbase coveralls crowdin currencylayer customerio databento databricks
    datadog datagov datarobot deepgram deepinfra deepl deepseek deno devcycle dialpad digitalocean
    discord disqus dnsimple docker dockerhub docusign doppler droneci dropbox duffel dwolla dynatrace
    easypost ebay elastic elasticemail elevenlabs etherscan etsy eventbrite everhour exchangerate
    exoscale expo facebook fal fastly fastspring figma finicity finnhub firebase fireworks fixer flickr
    flightaware flutterwave fly formspree foursquare freshbooks freshdesk freshservice fullstory
    geoapify geocodio getresponse ghost giphy gitea gitguardian github gitlab gitter gocardless google
    grafana graphhopper greptile groq gumroad hashicorp helpscout heroku honeybadger honeycomb hubspot
    huggingface ibm ibmcloud iex influx influxdb infobip infomaniak infura instagram instamojo intercom
    ipapi ipdata ipgeolocation ipify ipinfo ipstack iterable jenkins jfrog jira jotform jumpcloud kagi
    keycdn kickbox klaviyo kraken kucoin langfuse langsmith lark lastfm launchdarkly lemlist line linear
    linkedin linode livekit lob locationiq logdna loggly logzio lokalise looker luno mailboxlayer
    mailchimp mailerlite mailersend mailgun mailjet mailmodo mailtrap mandrill mapbox mapquest
    marketstack mattermost maxmind mediastack meilisearch meraki messagebird midtrans miro mistral
    mixpanel monday mongodb moonshot moralis mux namecheap nasa neon netlify newrelic newsapi nexmo
    ngrok notion npm numverify nvidia nylas nytimes octopus okta ollama omise onesignal openai opencage
    openrouter openweather opsgenie optimizely ovh oxylabs paddle pagerduty pandadoc papertrail paypal
    paystack payu pendo percy perplexity pexels photoroom pinata pinecone pingdom pinterest pipedrive
    pixabay plaid planetscale plivo polymarket positionstack postgres posthog postman postmark prefect
    pulumi pushbullet pusher pushover qdrant quay quickbooks quicknode rapidapi rawg razorpay readme
    rebrandly recaptcha reddit render replicate resend ringcentral roboflow rocketreach rollbar rubygems
    runpod runway salesforce samsara sauce saucelabs scaleway scraperapi scrapfly scrapingbee scw
    securitytrails segment sendbird sendgrid sendinblue sendpulse sentry serpapi serper serpstack shippo
    shodan shopify signalfx slack smartsheet smtp2go snipcart snowflake snyk sonar sonarcloud sonarqube
    sonatype sourcegraph sparkpost speechmatics splunk spoonacular sportradar spotify square squarespace
    sslmate stability stackhawk statuspage strava stripe stytch sumo sumologic supabase surveymonkey
    tableau tailscale tatum tavily telegram telnyx tencent textmagic thingsboard ticketmaster tiingo
    tiktok tmdb todoist together tomtom transifex travis trello truenas twelvedata twilio twitch twitter
    typeform uber unsplash upcloud upstage upstash uptimerobot userstack vapi vercel vimeo virustotal
    vonage voyage vultr wakatime wandb weatherapi weatherbit weatherstack webex webflow wix woo
    woocommerce workato workos wrike wunderground xai xendit xero yandex yelp yousign youtube zai zapier
    zendesk zenhub zeplin zerobounce zerotier zoho zoom zuplo""".split()
)
