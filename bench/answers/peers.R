# One fit of R: reads FOLDER/data.csv and prints its answer, and the CPU seconds of the fitting call alone, as JSON.
# usage: peers.R lme4|glmmTMB FOLDER FORMULA, peers.R mclust FOLDER K, peers.R sleepstudy (prints the table)
arguments <- commandArgs(TRUE)
name <- arguments[1]
numbers <- function(x) paste0("[", paste(sprintf("%.12g", x), collapse = ","), "]")
answer <- function(seconds, ...) {
  parts <- list(...)
  text <- paste(sprintf('"%s": %s', names(parts), sapply(parts, numbers)), collapse = ", ")
  cat(sprintf('{"fit": %f, "answer": {%s}}\n', sum(seconds[1:2]), text))
}
if (name == "sleepstudy") {
  write.table(lme4::sleepstudy, sep = ",", col.names = FALSE, row.names = FALSE, quote = FALSE)
  quit()
}
data <- read.csv(file.path(arguments[2], "data.csv"))
if (name == "mclust") {
  suppressMessages(library(mclust))
  seconds <- system.time(fit <- Mclust(as.matrix(data), G = as.integer(arguments[3]), modelNames = "VVV", verbose = FALSE))
  precision <- apply(fit$parameters$variance$sigma, 3, solve)
  answer(seconds, weight = fit$parameters$pro, mean = fit$parameters$mean, precision = precision)
} else if (name == "lme4") {
  suppressMessages(library(lme4))
  seconds <- system.time(fit <- lmer(as.formula(arguments[3]), data))
  answer(seconds, effects = fixef(fit), errors = sqrt(diag(as.matrix(vcov(fit)))))
} else {
  suppressMessages(library(glmmTMB))
  seconds <- system.time(fit <- glmmTMB(as.formula(arguments[3]), data, REML = TRUE))
  answer(seconds, effects = fixef(fit)$cond, errors = sqrt(diag(vcov(fit)$cond)))
}
