// Values of the operations that expressions are made of.
#pragma once
#include "compiler/model/model.h"

namespace lehr::model {

double apply(BinaryOp op, double a, double b);
double apply(Function f, double x);

}  // namespace lehr::model
