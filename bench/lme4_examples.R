# One example of lme4: writes a data set of the package, or prints the REML fit of a formula as JSON.
# usage: lme4_examples.R write DATASET FILE.csv, lme4_examples.R fit DATASET FORMULA
suppressMessages(library(lme4))
arguments <- commandArgs(TRUE)
data <- get(arguments[2])
if (arguments[1] == "write") {
  for (column in names(data)) if (is.factor(data[[column]])) data[[column]] <- paste0(".", data[[column]])
  write.csv(data, arguments[3], row.names = FALSE, quote = FALSE)
  quit()
}
numbers <- function(x) paste0("[", paste(sprintf("%.12g", x), collapse = ","), "]")
seconds <- system.time(fit <- lmer(as.formula(arguments[3]), data))
spread <- as.data.frame(VarCorr(fit))
spread <- spread[is.na(spread$var2), ]
cat(sprintf('{"effects": %s, "errors": %s, "sds": %s, "seconds": %f}\n', numbers(fixef(fit)), numbers(sqrt(diag(as.matrix(vcov(fit))))),
            numbers(spread$sdcor), sum(seconds[1:2])))
