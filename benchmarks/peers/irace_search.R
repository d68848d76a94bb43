# irace, asking the evaluator for its runs. Reads job.txt, parameters.txt and default.txt.

library(irace)

job <- read.table("job.txt", row.names = 1)
given <- function(name) job[name, 1]

line <- socketConnection("127.0.0.1", given("port"), open = "r+", blocking = TRUE, timeout = 3600)
asked <- function(...) {
  writeLines(paste(..., sep = "\t"), line)
  readLines(line, n = 1)
}
pairs <- function(configuration) {
  values <- vapply(configuration, function(value) format(value, digits = 15, trim = TRUE), "")
  paste(names(configuration), values, sep = "=", collapse = "\t")
}

run <- function(experiment, scenario) {
  seed <- if (is.null(experiment$seed)) 1 else format(experiment$seed, scientific = FALSE)
  answer <- asked("run", experiment$instance, seed, pairs(experiment$configuration))
  list(cost = as.numeric(answer))
}

parameters <- readParameters("parameters.txt", digits = given("digits"))
scenario <- list(
  targetRunner = run,
  instances = as.character(seq_len(given("instances")) - 1),
  maxExperiments = given("runs"),
  deterministic = given("deterministic"),
  seed = given("seed"),
  configurationsFile = "default.txt",
  digits = given("digits"),
  logFile = ""
)

# Where the budget is too small for so many parameters, irace refuses: then it gets fewer
# iterations, as many as it accepts.
count <- floor(2 + log2(parameters$nbVariable))
scenario <- checkScenario(defaultScenario(scenario))
while (count > 1 &&
       irace:::computeMinimumBudget(scenario, floor(2 + log2(parameters$nbVariable)), count, NA)
       > scenario$maxExperiments) {
  count <- count - 1
}
scenario$nbIterations <- count

best <- irace(scenario, parameters)
asked("incumbent", pairs(removeConfigurationsMetaData(best[1, , drop = FALSE])))
